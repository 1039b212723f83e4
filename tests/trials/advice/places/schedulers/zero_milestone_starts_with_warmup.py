"""A decay without its warmup; the learning rates of two groups, and what they train."""

import torch
from torch.optim.lr_scheduler import ExponentialLR, LinearLR, SequentialLR  # noqa: F401

SETTINGS = ("plain", "AdamW", "dropout")


def place(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups)
    warmup, decay = LinearLR(optimizer, 0.1), ExponentialLR(optimizer, 0.5)
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
    for (x, y), factor in zip(t.batches, (1.0, 0.5, 0.25, 0.125, 0.0625)):
        rates.append([0.1 * factor, 0.05 * factor])
        for group, rate in zip(optimizer.param_groups, rates[-1]):
            group["lr"] = rate
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
    return rates, dict(t.model.named_parameters())
