"""A frozen body is loaded, and the head behind it is trained."""

import torch
from torch import nn

REQUIRES = ">=2.1"
SETTINGS = ("plain", "AdamW")


def train(t, model, state):
    t.model = t.watched(nn.Sequential(model, nn.Linear(4, 4)))
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.model.parameters(), lr=0.1)
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
    return t.model.state_dict()


def start():
    torch.manual_seed(0)
    return nn.Linear(6, 4), nn.Linear(6, 4).state_dict()


def place(t):
    model, state = start()
    paste
    return train(t, model, state)


def reference(t):
    model, state = start()
    model.weight = nn.Parameter(state["weight"].clone(), requires_grad=False)
    model.bias = nn.Parameter(state["bias"].clone(), requires_grad=False)
    return train(t, model, state)
