"""A model of three layers is trained, saved and evaluated."""

import torch
from torch import nn
from torch.nn import Linear

SETTINGS = ("plain", "AdamW", "bfloat16")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Linear(6, 2)
        paste

    def forward(self, x):
        x = self.body(x)
        for layer in self.hidden:
            x = layer(x)
        return x


class ByHand(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Linear(6, 2)
        self.one, self.two = Linear(2, 2), Linear(2, 2)

    def forward(self, x):
        return self.two(self.one(self.body(x)))


def train(t, kind):
    torch.manual_seed(0)
    model = kind()
    optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
    for x, y in t.batches:
        optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(model(x), y % 2)
        loss.backward()
        optimizer.step()
    return list(model.state_dict().values())


def place(t):
    return train(t, Net)


def reference(t):
    return train(t, ByHand)
