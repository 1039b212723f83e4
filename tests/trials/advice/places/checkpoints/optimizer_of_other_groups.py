"""A resumed run that freezes its first layer, compared with one that freezes it without a break.

Gradients are set to zero, as was the default before torch 2.0.
"""

import torch
from torch import nn

SETTINGS = ("plain", "short last batch")


def train(t, model, optimizer):
    for x, y in t.batches:
        optimizer.zero_grad(set_to_none=False)
        t.loss(model(x), y).backward()
        optimizer.step()


def first_stage(t):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4))
    optimizer = torch.optim.Adam(model.parameters())
    train(t, model, optimizer)
    return model, optimizer


def place(t):
    model, saved = first_stage(t)
    state = saved.state_dict()
    paste
    train(t, model, optimizer)
    return [model.state_dict(), model[0].weight.requires_grad]


def reference(t):
    model, optimizer = first_stage(t)
    for parameter in model[0].parameters():
        parameter.requires_grad, parameter.grad = False, None
    train(t, model, optimizer)
    return [model.state_dict(), False]
