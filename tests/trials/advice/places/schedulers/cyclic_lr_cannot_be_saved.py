"""Six steps of a cycle, and six more from a checkpoint; the rates are counted by hand."""

import torch

SETTINGS = ("plain", "AdamW")


def make(t):
    weights = [torch.zeros(1, requires_grad=True) for _ in range(2)]
    groups = [{"params": [weight], "lr": lr} for weight, lr in zip(weights, (0.1, 0.05))]
    more = {"momentum": 0.9} if t.setting.optimizer == "SGD" else {}
    optimizer = getattr(torch.optim, t.setting.optimizer)(groups, lr=0.1, **more)
    momentum = t.setting.optimizer == "SGD"
    return torch.optim.lr_scheduler.CyclicLR(
        optimizer, base_lr=0.1, max_lr=0.5, step_size_up=4, cycle_momentum=momentum
    )


def train(scheduler):
    rates = []
    for _ in range(6):
        rates += scheduler.get_last_lr()
        scheduler.optimizer.step()
        scheduler.step()
    return rates


def place(t):
    scheduler, file = make(t), "scheduler.pt"
    rates = train(scheduler)
    paste
    scheduler = make(t)
    scheduler.load_state_dict(torch.load(file))
    scheduler.step()  # what a new scheduler has set is that of step 0
    return rates, train(scheduler)[:10], scheduler.last_epoch


def reference(t):
    triangle = [0.1 + 0.1 * min(n % 8, 8 - n % 8) for n in range(13)]
    return (
        [rate for rate in triangle[:6] for _ in range(2)],
        [rate for rate in triangle[7:12] for _ in range(2)],
        13,
    )
