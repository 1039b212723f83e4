# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "StepLR built with last_epoch right after a decay decays the learning rate a second time"
# kind = "silent"
# symptom = "resumed with learning rate 0\\.125, stopped with 0\\.25"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py",
#     "https://github.com/pytorch/pytorch/issues/102261",
#     "https://github.com/pytorch/pytorch/pull/149312",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LRScheduler.html",
# ]
# upstream = "unreported"
# wrong = '''
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler = StepLR(optimizer, step_size=2, gamma=0.5, last_epoch=3)
# '''
# right = '''
# scheduler = StepLR(optimizer, step_size=2, gamma=0.5)
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler.load_state_dict(checkpoint["scheduler"])
# '''
# fix = "schedulers.ScheduleLR"
# use = '''
# from schedulers import ScheduleLR
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler = ScheduleLR(optimizer, lambda epoch: 0.5 ** (epoch // 2), step=4)
# '''
# choice = "Use the lines without the fix if the checkpoint contains the scheduler's state; use the fix if it contains only the number of steps"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""If training is resumed at an epoch where StepLR has just decayed the learning rate, the rate is
decayed again.

The constructor ends with a step, here to epoch 4, and get_lr() multiplies the loaded rate, which
has already been decayed for that epoch (torch/optim/lr_scheduler.py). ExponentialLR had the same
bug (pytorch#102261), but its fix did not cover StepLR, MultiStepLR and ConstantLR (pytorch#149312).

The documentation says to build the scheduler before the optimizer's load_state_dict() (docs:
torch.optim.lr_scheduler.LRScheduler). With last_epoch, doing so raises a KeyError, because the
optimizer has no "initial_lr" yet (torch/optim/lr_scheduler.py).
"""

import torch
from torch.optim.lr_scheduler import StepLR


def make(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    return torch.optim.SGD([weight], lr=1.0)


def interrupted(device):
    optimizer = make(device)
    scheduler = StepLR(optimizer, step_size=2, gamma=0.5)
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    return {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}


def check(optimizer):
    rate = optimizer.param_groups[0]["lr"]
    if abs(rate - 0.25) > 1e-6:
        return f"resumed with learning rate {rate:}, stopped with 0.25"


def reproduce(device):
    checkpoint = interrupted(device)
    optimizer = make(device)
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler = StepLR(optimizer, step_size=2, gamma=0.5, last_epoch=3)
    return check(scheduler.optimizer)


def control(device):
    checkpoint = interrupted(device)
    optimizer = make(device)
    scheduler = StepLR(optimizer, step_size=2, gamma=0.5)
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
