"""A masked model is moved, to the meta device for a GPU, cast, trained, and loads an older file."""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "bfloat16")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Linear(6, 3)
        paste

    def forward(self, x):
        return self.head(x) * self.mask


def train(t, model):
    model.to(t.setting.dtype)
    optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
    for x, y in t.batches:
        optimizer.zero_grad()
        output = model(x.to(t.setting.dtype))
        t.loss(output.float(), y % 3).backward()
        optimizer.step()
    return [output, dict(model.state_dict())]


def older(t):
    torch.manual_seed(0)
    return {f"head.{key}": value for key, value in nn.Linear(6, 3).state_dict().items()}


def place(t):
    model = t.model = Net()
    model.load_state_dict(older(t))
    moved = Net().to("meta")(t.batches[0][0].to("meta"))
    return [str(moved.device), train(t, model)]


def reference(t):
    model = t.model = nn.Module()
    model.head = nn.Linear(6, 3)
    model.forward = lambda x: model.head(x)
    model.load_state_dict(older(t))
    return ["meta", train(t, model)]
