"""A model with three classes is trained, and its optimizer is loaded for a model with four."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW")


def pretrained(t):
    torch.manual_seed(0)
    old = nn.Sequential(nn.Linear(6, 5), nn.Linear(5, 3))
    optimizer = build(t, old)
    train(t, old, optimizer)
    model = t.model = t.watched(nn.Sequential(nn.Linear(6, 5), nn.Linear(5, 4)))
    model[0].load_state_dict(old[0].state_dict())
    return model, build(t, model), optimizer.state_dict()


def build(t, model):
    options = {"momentum": 0.9} if t.setting.optimizer == "SGD" else {}
    return getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1, **options)


def train(t, model, optimizer):
    for x, y in t.batches:
        optimizer.zero_grad()
        t.loss(model(x), y % 3).backward()
        optimizer.step()


def place(t):
    model, optimizer, checkpoint = pretrained(t)
    paste
    train(t, model, optimizer)
    return model.state_dict()


def reference(t):
    model, optimizer, checkpoint = pretrained(t)
    body = {n: state for n, state in checkpoint["state"].items() if n < 2}
    optimizer.load_state_dict({"state": body, "param_groups": checkpoint["param_groups"]})
    train(t, model, optimizer)
    return model.state_dict()
