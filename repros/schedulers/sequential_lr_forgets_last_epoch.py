# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "SequentialLR built with last_epoch returns to the first rate of its first scheduler"
# kind = "silent"
# symptom = "resumed with learning rate 0\\.1, stopped with 0\\.5"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/162591"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/171515",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py",
# ]
# wrong = '''
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler = SequentialLR(optimizer, [warmup, main], milestones=[2], last_epoch=3)
# '''
# right = '''
# scheduler = SequentialLR(optimizer, [warmup, main], milestones=[2])
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler.load_state_dict(checkpoint["scheduler"])
# '''
# fix = "schedulers.ScheduleLR"
# use = '''
# from schedulers import ScheduleLR
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler = ScheduleLR(optimizer, lambda epoch: 0.1 if epoch < 2 else 0.5, step=4)
# '''
# choice = "Use the lines without the fix if the checkpoint contains the scheduler's state; use the fix if it contains only the number of steps"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The learning rate returns to its value in epoch 0 of the warmup.

Whatever last_epoch is, the constructor runs the first step of the first scheduler, and leaves the
other schedulers at their start (torch/optim/lr_scheduler.py). The next step() uses the scheduler
that belongs to the epoch, so the warmup runs again only if training is resumed within the warmup.
If training is resumed later, the main part starts at its own first epoch. If the main part
multiplies the current rate, as CosineAnnealingLR does, the rate stays on the scale of the warmup
(same file).
"""

import torch
from torch.optim.lr_scheduler import ConstantLR, SequentialLR


def make(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    return optimizer, ConstantLR(optimizer, 0.1, 99), ConstantLR(optimizer, 0.5, 99)


def interrupted(device):
    optimizer, warmup, main = make(device)
    scheduler = SequentialLR(optimizer, [warmup, main], milestones=[2])
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    return {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}


def check(optimizer):
    rate = optimizer.param_groups[0]["lr"]
    if abs(rate - 0.5) > 1e-6:
        return f"resumed with learning rate {rate:}, stopped with 0.5"


def reproduce(device):
    checkpoint = interrupted(device)
    optimizer, warmup, main = make(device)
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler = SequentialLR(optimizer, [warmup, main], milestones=[2], last_epoch=3)
    return check(scheduler.optimizer)


def control(device):
    checkpoint = interrupted(device)
    optimizer, warmup, main = make(device)
    scheduler = SequentialLR(optimizer, [warmup, main], milestones=[2])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    return check(optimizer)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
