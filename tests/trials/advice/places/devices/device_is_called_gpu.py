"""A model is moved to the best device of the machine, and takes a step."""

import torch

SETTINGS = ("plain", "AdamW")


def train(t, device):
    t.model.to(device)
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x.to(device)), y.to(device)).backward()
        t.optimizer.step()
    return [p.detach().cpu() for p in t.model.parameters()]


def place(t):
    paste
    return train(t, device)


def reference(t):
    return train(t, "cuda:0" if torch.cuda.device_count() else "cpu")
