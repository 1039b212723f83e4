"""A search over learning rates: each trial has a model of its own, which hooks itself."""

import weakref
from gc import collect

import torch
from torch import nn

SETTINGS = ("plain", "AdamW", "dropout")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(6, 4)
        self.body.register_forward_hook(lambda *seen: setattr(self, "features", seen[2].detach()))

    def forward(self, x):
        return nn.functional.dropout(self.body(x), 0.2)


def search(t, trial):
    collect()
    losses, weights = [], []

    def train(model):
        optimizer = getattr(torch.optim, t.setting.optimizer)(model.parameters(), lr=0.1)
        for x, y in t.batches:
            optimizer.zero_grad()
            loss = t.loss(model(x), y)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
        weights.append(weakref.ref(model.body.weight))
        collect(1)  # so that the model is old, as after a long training

    for _ in range(3):
        trial(train, Net())
    return [losses, [weight() is None for weight in weights]]


def place(t):
    def trial(train, model):
        paste

    return search(t, trial)


def reference(t):
    found = search(t, lambda train, model: train(model))
    return [found[0], [True] * 3]
