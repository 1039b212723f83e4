"""Five epochs without progress; the learning rate of one of two groups, or of both, is a tensor."""

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau

SETTINGS = ("tensor lr", "plain", "AdamW", "accumulation")


def start(t):
    held = [torch.tensor(0.5), torch.tensor(0.25) if t.setting.tensor_lr else 0.25]
    groups = [{**group, "lr": lr} for group, lr in zip(t.groups, held)]
    return held, getattr(torch.optim, t.setting.optimizer)(groups)


def place(t):
    held, optimizer = start(t)
    scheduler = ReduceLROnPlateau(optimizer, patience=1)
    rates = []
    for x, y in t.batches:
        optimizer.zero_grad()
        for rows in zip(x.split(4 // t.setting.window), y.split(4 // t.setting.window)):
            (t.loss(t.model(rows[0]), rows[1]) / t.setting.window).backward()
        loss = 1.0
        paste
        now = [group["lr"] for group in optimizer.param_groups]
        rates.append([float(lr) for lr in now])
    kinds = [lr is old if torch.is_tensor(old) else type(lr) for lr, old in zip(now, held)]
    return rates, kinds, dict(t.model.named_parameters())


def reference(t):
    _, optimizer = start(t)
    rates = [[0.5, 0.25]] * 2 + [[0.05, 0.025]] * 2 + [[0.005, 0.0025]]
    for (x, y), now in zip(t.batches, [[0.5, 0.25], *rates]):
        for group, lr in zip(optimizer.param_groups, now):
            group["lr"] = lr
        optimizer.zero_grad()
        for rows in zip(x.split(4 // t.setting.window), y.split(4 // t.setting.window)):
            (t.loss(t.model(rows[0]), rows[1]) / t.setting.window).backward()
        optimizer.step()
    return rates, [True, True if t.setting.tensor_lr else float], dict(t.model.named_parameters())
