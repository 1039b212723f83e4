"""Ten epochs of annealing to 0.1, resumed after five; the rates of two groups."""

import torch
from torch.optim.swa_utils import SWALR

SETTINGS = ("plain", "AdamW", "tensor lr")


def make(t):
    rates = [torch.tensor(lr) if t.setting.tensor_lr else lr for lr in (0.5, 0.25)]
    groups = [{"params": [torch.zeros(1, requires_grad=True)], "lr": lr} for lr in rates]
    return getattr(torch.optim, t.setting.optimizer)(groups, lr=0.1)


def train(optimizer, scheduler, epochs):
    rates = []
    for _ in range(epochs):
        rates.append([float(group["lr"]) for group in optimizer.param_groups])
        optimizer.step()
        scheduler.step()
    return rates


def place(t):
    optimizer = make(t)
    scheduler = SWALR(optimizer, 0.1, 10, "linear")
    rates = train(optimizer, scheduler, 5)
    checkpoint = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    optimizer = make(t)
    paste
    return rates + train(optimizer, scheduler, 4)


def reference(t):
    return [[lr + (0.1 - lr) * n / 10 for lr in (0.5, 0.25)] for n in range(9)]
