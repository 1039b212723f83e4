"""A backbone that joins after the scheduler was built, and a plateau of five epochs."""

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau as Plateau

SETTINGS = ("plain", "AdamW")


def ReduceLROnPlateau(optimizer, patience):  # noqa: N802  (the user's has a minimum)
    return Plateau(optimizer, patience=patience, min_lr=0.02)


def start(t):
    head, backbone = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
    return getattr(torch.optim, t.setting.optimizer)([head], lr=0.5), backbone


def place(t):
    optimizer, backbone = start(t)
    paste
    rates = []
    for _ in range(5):
        optimizer.step()
        scheduler.step(1.0)
        rates.append([group["lr"] for group in optimizer.param_groups])
    return rates


def reference(t):
    return [[0.5] * 2, [0.05] * 2, [0.02] * 2, [0.02] * 2, [0.02] * 2]
