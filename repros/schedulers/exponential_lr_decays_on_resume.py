# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ExponentialLR built with last_epoch decays the learning rate once too often"
# kind = "silent"
# symptom = "resumed with learning rate 0\\.03125, stopped with 0\\.0625"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/102261"]
# documents = ["https://github.com/pytorch/pytorch/pull/149312"]
# fixed_by = "pytorch#149312"
# wrong = '''
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler = ExponentialLR(optimizer, 0.5, last_epoch=3)
# '''
# right = '''
# scheduler = ExponentialLR(optimizer, 0.5)
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler.load_state_dict(checkpoint["scheduler"])
# '''
# fix = "schedulers.ScheduleLR"
# use = '''
# from schedulers import ScheduleLR
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler = ScheduleLR(optimizer, lambda epoch: 0.5**epoch, step=4)
# '''
# choice = "Use the lines without the fix if the checkpoint contains the scheduler's state; use the fix if it contains only the number of steps"
# affected = { cpu = "<2.8", cuda = "<2.8", mps = "<2.8" }
# ///
"""Every time training is resumed with last_epoch, the learning rate is multiplied by gamma once too
often.

The constructor ends with a step. Only if this step led to epoch 0 did get_lr() leave the rate
unchanged. With last_epoch, the step leads to a later epoch, so the loaded rate was decayed again
(pytorch#102261). MultiplicativeLR, LinearLR and PolynomialLR had the same bug (pytorch#149312).
"""

import torch
from torch.optim.lr_scheduler import ExponentialLR


def make(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    return torch.optim.SGD([weight], lr=1.0)


def interrupted(device):
    optimizer = make(device)
    scheduler = ExponentialLR(optimizer, 0.5)
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    return {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}


def check(optimizer):
    rate = optimizer.param_groups[0]["lr"]
    if abs(rate - 0.0625) > 1e-6:
        return f"resumed with learning rate {rate:}, stopped with 0.0625"


def reproduce(device):
    checkpoint = interrupted(device)
    optimizer = make(device)
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler = ExponentialLR(optimizer, 0.5, last_epoch=3)
    return check(scheduler.optimizer)


def control(device):
    checkpoint = interrupted(device)
    optimizer = make(device)
    scheduler = ExponentialLR(optimizer, 0.5)
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
