"""Two epochs at a fifth of the learning rate, then halved after each; the rates of two groups."""

import torch
from torch.optim.lr_scheduler import ConstantLR, MultiplicativeLR, SequentialLR  # noqa: F401

SETTINGS = ("plain", "AdamW")


def place(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups)
    paste
    rates = []
    for x, y in t.batches:
        rates.append([group["lr"] for group in optimizer.param_groups])
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
        scheduler.step()
    return rates, dict(t.model.named_parameters())


def reference(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups)
    rates = []
    for (x, y), factor in zip(t.batches, (0.2, 0.2, 0.2, 0.1, 0.05)):
        rates.append([0.1 * factor, 0.05 * factor])
        for group, rate in zip(optimizer.param_groups, rates[-1]):
            group["lr"] = rate
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
    return rates, dict(t.model.named_parameters())
