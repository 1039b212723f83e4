"""A run with each of eight schedulers that is interrupted, compared with one that is not."""

import torch
from torch.optim import lr_scheduler

SETTINGS = ("plain", "AdamW")
MAKERS = (
    lambda optimizer: lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.9**epoch),
    lambda optimizer: lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=20),
    lambda optimizer: lr_scheduler.StepLR(optimizer, 5),
    lambda optimizer: lr_scheduler.CosineAnnealingLR(optimizer, 20),
    lambda optimizer: lr_scheduler.LinearLR(optimizer, 0.1, total_iters=8),
    lambda optimizer: lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 20),
    lambda optimizer: lr_scheduler.ReduceLROnPlateau(optimizer, patience=8),
    lambda optimizer: lr_scheduler.SequentialLR(
        optimizer,
        [lr_scheduler.LinearLR(optimizer, 0.1, total_iters=8), lr_scheduler.StepLR(optimizer, 4)],
        milestones=[8],
    ),
)


def make_optimizer(t):
    groups = [{"params": [torch.zeros(1, requires_grad=True)], "lr": lr} for lr in (0.1, 0.2)]
    return getattr(torch.optim, t.setting.optimizer)(groups, lr=0.1, weight_decay=0.01)


def run(optimizer, scheduler, epochs):
    rates = []
    metric = [1.0] if isinstance(scheduler, lr_scheduler.ReduceLROnPlateau) else []
    for _ in range(epochs):
        optimizer.step()
        scheduler.step(*metric)
        rates.append([group["lr"] for group in optimizer.param_groups])
    return rates


def place(t):
    rates = []
    for make_scheduler in MAKERS:
        optimizer = make_optimizer(t)
        scheduler = make_scheduler(optimizer)
        rates.append(run(optimizer, scheduler, 6))
        paste
        rates.append(run(optimizer, scheduler, 10))
    return rates


def reference(t):
    rates = []
    for make_scheduler in MAKERS:
        optimizer = make_optimizer(t)
        scheduler = make_scheduler(optimizer)
        rates += [run(optimizer, scheduler, 6), run(optimizer, scheduler, 10)]
    return rates
