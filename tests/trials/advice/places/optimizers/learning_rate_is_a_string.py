"""A learning rate of 0.01 that is read as text, and one that is read as a number."""

import torch

SETTINGS = ("plain", "dropout", "short last batch")


def train(t, optimizer):
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()


def place(t):
    model = t.model
    for config in ({"lr": "1e-2"}, {"lr": 0.01}):
        paste
        train(t, optimizer)
    return [optimizer.param_groups[0]["lr"], model.state_dict()]


def reference(t):
    for _ in range(2):
        optimizer = torch.optim.Adam(t.model.parameters(), lr=0.01)
        train(t, optimizer)
    return [0.01, t.model.state_dict()]
