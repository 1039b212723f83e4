"""A model with a frozen norm and dropout that trains and predicts in turn.

In the reference, the mode of each layer is set by hand.
"""

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "short last batch")


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(6)
        self.body = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Dropout())
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        return self.head(self.body(self.norm(x)))


class Net(Layers):
    paste


def by_hand(model, mode):
    for module in (model, model.body, *model.body, model.head):
        module.training = mode
    model.norm.training = False
    return model


def run(t, model, switch):
    t.model = t.watched(model)
    optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
    predictions = []
    for x, y in t.batches:
        model = switch(model, True)
        optimizer.zero_grad()
        t.loss(model(x), y).backward()
        optimizer.step()
        model = switch(model, False)
        predictions.append(model(x).detach())
    return [model.state_dict(), predictions]


def place(t):
    torch.manual_seed(0)
    return run(t, Net(), lambda model, mode: model.train() if mode else model.eval())


def reference(t):
    torch.manual_seed(0)
    return run(t, Layers(), by_hand)
