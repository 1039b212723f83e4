"""A trainer that was written on a machine with two GPUs, on one without."""

import torch

SETTINGS = ("plain", "AdamW", "tied")


def train(t, device):
    for x, y in t.batches:
        t.optimizer.zero_grad()
        t.loss(t.model(x.to(device)), y.to(device)).backward()
        t.optimizer.step()
    return t.model.state_dict()


def place(t):
    model, index = t.model, 1
    paste
    return train(t, device)


def reference(t):
    t.model
    return train(t, "cpu")
