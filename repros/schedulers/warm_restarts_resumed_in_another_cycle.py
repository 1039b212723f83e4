# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If CosineAnnealingWarmRestarts(T_mult=2) is resumed by last_epoch in cycle 2, it restarts that cycle"
# kind = "silent"
# symptom = "resumed with learning rate 1\\.0, stopped with 0\\.5"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/issues/88791",
#     "https://github.com/pytorch/pytorch/pull/151289",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py",
# ]
# upstream = "unreported"
# wrong = '''
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler = CosineAnnealingWarmRestarts(optimizer, 2, T_mult=2, last_epoch=3)
# '''
# right = '''
# scheduler = CosineAnnealingWarmRestarts(optimizer, 2, T_mult=2)
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler.load_state_dict(checkpoint["scheduler"])
# '''
# affected = { cpu = ">=2.8", cuda = ">=2.8", mps = ">=2.8" }
# ///
"""Epochs 2 to 5 are the second cycle, but if training is resumed at epoch 4, the cycle starts again
at this epoch. Resuming at epoch 2 or 3 works, but a resume from epoch 4 on gives wrong rates
(torch/optim/lr_scheduler.py).

The constructor treats last_epoch as the position in the first cycle, and its first step turns this
into a position in the second cycle. This step used to subtract the length of the first cycle, which
is right in the second cycle but wrong from the third on (pytorch#88791). Since pytorch#151289 the
step uses the remainder, which is right only if all cycles have the same length, that is, with
T_mult=1. Calling step(epoch) finds the right cycle for any T_mult (torch/optim/lr_scheduler.py).
"""

import torch
from torch.optim.lr_scheduler import CosineAnnealingWarmRestarts


def make(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    return torch.optim.SGD([weight], lr=1.0)


def interrupted(device):
    optimizer = make(device)
    scheduler = CosineAnnealingWarmRestarts(optimizer, 2, T_mult=2)
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    return {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}


def check(optimizer):
    rate = optimizer.param_groups[0]["lr"]
    if abs(rate - 0.5) > 1e-6:
        return f"resumed with learning rate {rate:.1f}, stopped with 0.5"


def reproduce(device):
    checkpoint = interrupted(device)
    optimizer = make(device)
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler = CosineAnnealingWarmRestarts(optimizer, 2, T_mult=2, last_epoch=3)
    return check(scheduler.optimizer)


def control(device):
    checkpoint = interrupted(device)
    optimizer = make(device)
    scheduler = CosineAnnealingWarmRestarts(optimizer, 2, T_mult=2)
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
