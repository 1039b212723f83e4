"""Four epochs of five batches; the learning rate of every batch, compared with the formula."""

import math

import torch
from torch.optim.lr_scheduler import OneCycleLR  # noqa: F401

SETTINGS = ("plain", "AdamW", "tensor lr", "short last batch")


def start(t):
    rates, momentum = [], {"momentum": 0.9} if t.setting.optimizer == "SGD" else {}
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups, **momentum)

    def train_step(x, y):
        rates.append([float(group["lr"]) for group in optimizer.param_groups])
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()

    return optimizer, train_step, rates


def place(t):
    epochs, loader = 4, t.batches
    optimizer, train_step, rates = start(t)
    paste
    return rates


def reference(t):
    t.model.train()
    for x, y in t.batches:
        t.loss(t.model(x), y).backward()  # what is observed of the model is compared too
    up, rates = 0.3 * 20 - 1, []
    for n in range(20):
        low, high, done = (0.04, 1.0, n / up) if n <= up else (4e-6, 1.0, 1 - (n - up) / (19 - up))
        rates.append([high + (low - high) * (1 + math.cos(math.pi * done)) / 2] * 2)
    return rates
