# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A SequentialLR as the first part of another SequentialLR runs with wrong learning rates"
# kind = "silent"
# symptom = "learning rates are \\[(0\\.5, 0\\.2|1\\.0, 1\\.0), 0\\.2"
# messages = [
#     "SequentialLR\\.step\\(\\) takes 1 positional argument but 2 were given",
#     "ChainedScheduler\\.step\\(\\) takes 1 positional argument but 2 were given",
#     "scheduler\\._update_lr\\(.{0,900}?NotImplementedError",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/196243"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/196242",
#     "https://github.com/pytorch/pytorch/issues/132745",
# ]
# wrong = '''
# inner = SequentialLR(optimizer, [warmup, hold], milestones=[2])
# scheduler = SequentialLR(optimizer, [inner, cooldown], milestones=[4])
# '''
# right = '''
# scheduler = SequentialLR(optimizer, [warmup, hold, cooldown], milestones=[2, 4])
# '''
# fix = "schedulers.sequence"
# use = '''
# from schedulers import ScheduleLR, linear, sequence
# inner = sequence(linear(2, 0.5, 0.5), linear(2, 0.2, 0.2))
# scheduler = ScheduleLR(optimizer, sequence(inner, linear(1, 0.1, 0.1)))
# '''
# choice = "Use the lines without the fix, and count the milestones of the inner schedule from the start of training; use the fix to nest parts that are built elsewhere"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The inner schedule runs one epoch early.

The constructor of the outer SequentialLR undoes the first step of all schedulers and repeats this
step for the first scheduler. If the first scheduler is a SequentialLR too, the constructor calls
its step(), which advances the inner schedule by an epoch (pytorch#196242). Before 2.6, the
constructor undid only the first step of the inner SequentialLR, but not the first steps of the
schedulers inside it (pytorch#132745). The warmup rate was therefore never set.

If a later part is a SequentialLR or a ChainedScheduler, it fails at its milestone. On 2.7, the
error is a TypeError, because step() accepts no epoch. On 2.13 and 2.15, it is a NotImplementedError
without a message, because neither class defines get_lr(). On 1.13 and 2.3, a ChainedScheduler
already fails in the constructor.
"""

import traceback

import torch
from torch.optim.lr_scheduler import ChainedScheduler, ConstantLR, SequentialLR


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    return optimizer, *(ConstantLR(optimizer, factor, 9) for factor in (0.5, 0.2, 0.1))


def train(optimizer, scheduler):
    rates = []
    for _ in range(5):
        rates.append(round(optimizer.param_groups[0]["lr"], 2))
        optimizer.step()
        scheduler.step()
    if rates != [0.5, 0.5, 0.2, 0.2, 0.1]:
        return f"learning rates are {rates}"


def reproduce(device):
    optimizer, warmup, hold, cooldown = start(device)
    inner = SequentialLR(optimizer, [warmup, hold], milestones=[2])
    scheduler = SequentialLR(optimizer, [inner, cooldown], milestones=[4])
    return train(optimizer, scheduler)


def control(device):
    optimizer, warmup, hold, cooldown = start(device)
    scheduler = SequentialLR(optimizer, [warmup, hold, cooldown], milestones=[2, 4])
    return train(optimizer, scheduler)


def messages(device):
    seen = []
    for nest in (
        lambda optimizer, hold: SequentialLR(optimizer, [hold], milestones=[]),
        lambda _, hold: ChainedScheduler([hold]),
    ):
        optimizer, warmup, hold, _ = start(device)
        try:
            later = nest(optimizer, hold)
            train(optimizer, SequentialLR(optimizer, [warmup, later], milestones=[2]))
        except (AttributeError, TypeError, NotImplementedError):
            seen.append(traceback.format_exc())
    return "\n".join(seen)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
