"""Ten epochs of annealing to 0.1, the last five after a checkpoint."""

import torch
from torch.optim.swa_utils import SWALR

SETTINGS = ("plain", "AdamW")
REQUIRES = ">=2.0"


def make(t):
    weights = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    groups = [{"params": [weight], "lr": lr} for weight, lr in zip(weights, (0.1, 0.05))]
    more = {"momentum": 0.9} if t.setting.optimizer == "SGD" else {}
    optimizer = getattr(torch.optim, t.setting.optimizer)(groups, lr=0.1, **more)
    return optimizer, SWALR(optimizer, 0.2, 10, "linear")


def train(optimizer, scheduler):
    rates = []
    for _ in range(5):
        optimizer.step()
        scheduler.step()
        rates.append([group["lr"] for group in optimizer.param_groups])
    return rates


def place(t):
    (optimizer, scheduler), file = make(t), "scheduler.pt"
    rates = train(optimizer, scheduler)
    kept = optimizer.state_dict()
    paste
    optimizer, scheduler = make(t)
    optimizer.load_state_dict(kept)
    scheduler.load_state_dict(state)
    return rates + train(optimizer, scheduler)


def reference(t):
    return [[lr + (0.2 - lr) * n / 10 for lr in (0.1, 0.05)] for n in range(1, 11)]
