"""A warmup and a main part, resumed in the main part; the rates of two groups, and the epoch."""

import torch
from torch.optim.lr_scheduler import ConstantLR, SequentialLR

SETTINGS = ("plain", "AdamW")


def make(t):
    groups = [{"params": [torch.zeros(1, requires_grad=True)], "lr": lr} for lr in (0.5, 0.25)]
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
    warmup, main = ConstantLR(optimizer, 0.1, 99), ConstantLR(optimizer, 0.5, 99)
    scheduler = SequentialLR(optimizer, [warmup, main], milestones=[2])
    rates = train(optimizer, scheduler, 4)
    checkpoint = {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}
    optimizer = make(t)
    warmup, main = ConstantLR(optimizer, 0.1, 99), ConstantLR(optimizer, 0.5, 99)
    del scheduler
    paste
    return rates + train(optimizer, scheduler, 4), scheduler.last_epoch


def reference(t):
    return [[0.5 * factor, 0.25 * factor] for factor in [0.1] * 2 + [0.5] * 6], 8
