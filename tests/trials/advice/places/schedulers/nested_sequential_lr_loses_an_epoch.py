"""A warmup, a plateau, and a cooldown; the learning rates of two groups, and what they train."""

import torch
from torch.optim.lr_scheduler import ConstantLR, SequentialLR  # noqa: F401

SETTINGS = ("plain", "AdamW", "dropout")


def place(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups)
    warmup, hold, cooldown = (ConstantLR(optimizer, factor, 9) for factor in (0.5, 0.2, 0.1))
    paste
    rates = []
    for x, y in t.batches:
        rates.append(scheduler.get_last_lr())
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
        scheduler.step()
    return rates, dict(t.model.named_parameters())


def reference(t):
    optimizer = getattr(torch.optim, t.setting.optimizer)(t.groups)
    rates = []
    for (x, y), factor in zip(t.batches, (0.5, 0.5, 0.2, 0.2, 0.1)):
        rates.append([0.1 * factor, 0.05 * factor])
        for group, rate in zip(optimizer.param_groups, rates[-1]):
            group["lr"] = rate
        optimizer.zero_grad()
        t.loss(t.model(x), y).backward()
        optimizer.step()
    return rates, dict(t.model.named_parameters())
