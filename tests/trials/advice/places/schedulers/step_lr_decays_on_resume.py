"""A decay after every second epoch, resumed right after one; the rates of two groups, and the epoch at last."""

import torch
from torch.optim.lr_scheduler import StepLR

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
    scheduler = StepLR(optimizer, step_size=2, gamma=0.5)
    rates = train(optimizer, scheduler, 4)
    checkpoint = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    optimizer = make(t)
    paste
    return rates + train(optimizer, scheduler, 4), scheduler.last_epoch


def reference(t):
    return [[0.5 * factor, 0.25 * factor] for factor in (0.5 ** (n // 2) for n in range(8))], 8
