"""A network with two hidden layers, against weights drawn by hand from the same random numbers."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "short last batch")


def start(t):
    t.model = t.watched(
        nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
    )
    torch.manual_seed(0)
    return t.model


def train(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.05)
    for x, y in t.batches * 3:
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
    units = {tuple(unit) for unit in t.model[0].weight.tolist()}
    return [t.model.state_dict(), len(units)]


def place(t):
    model = start(t)
    paste
    return train(t)


def reference(t):
    model = start(t)
    with torch.no_grad():
        for layer in (model[0], model[2], model[4]):
            bound = (6 / layer.in_features) ** 0.5
            layer.weight.uniform_(-bound, bound)
            layer.bias.fill_(0)
    return train(t)
