"""A regression on doubles in a buffer, compared with the same numbers as float32 from the start."""

from array import array

import torch

SETTINGS = ("plain", "AdamW", "bfloat16")


def numbers():
    return [0.1 * n - 1 for n in range(24)]


def train(t, x):
    x = x.view(4, 6)
    for _ in range(3):
        t.optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(t.model(x).float(), torch.arange(4))
        loss.backward()
        t.optimizer.step()
    return t.model.state_dict(), str(x.dtype)


def place(t):
    data = array("d", numbers())
    paste
    return train(t, x)


def reference(t):
    return train(t, torch.tensor(numbers()))
