"""A model that trains with dropout and predicts in eval mode, against the same with nn.Dropout."""

import torch
from torch import nn
from torch.nn.functional import dropout

SETTINGS = ("plain", "AdamW", "bfloat16")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 4)

    paste


class WithLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 4)
        self.drop = [nn.Dropout()]

    def forward(self, x):
        return self.drop[0].train(self.training)(self.body(x))


def run(t, kind):
    model = t.model = t.watched(kind())
    optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
    for x, y in t.batches:
        optimizer.zero_grad()
        with t.autocast():
            loss = t.loss(model(x), y)
        loss.backward()
        optimizer.step()
    model.eval()
    return [model(x) for x, _ in t.batches]


def place(t):
    return run(t, Net)


def reference(t):
    return run(t, WithLayer)
