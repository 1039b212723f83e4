# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A SequentialLR that starts with a ChainedScheduler decays the first learning rate"
# kind = "silent"
# symptom = "first learning rate is 0.5, not 1.0"
# keywords = [
#     "ChainedScheduler in SequentialLR",
#     "SequentialLR wrong first learning rate",
#     "first epoch uses the wrong learning rate",
#     "learning rate already decayed before training starts",
#     "SequentialLR with combined schedules starts too low",
#     "initial lr is not the one I set",
#     "warmup chain in SequentialLR off by one epoch",
#     "lr at epoch 0 is multiplied by gamma",
#     "learning rate of second epoch used in the first",
#     "schedule shifted after upgrading to torch 2.8",
#     "get_last_lr before training is lower than expected",
#     "starting learning rate differs from the optimizer's lr",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/196243"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/149312",
#     "https://github.com/pytorch/pytorch/issues/132745",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py",
# ]
# wrong = '''
# first = ChainedScheduler([ExponentialLR(optimizer, 0.5)])
# scheduler = SequentialLR(optimizer, [first, last], milestones=[3])
# '''
# right = '''
# first = ExponentialLR(optimizer, 0.5)
# scheduler = SequentialLR(optimizer, [first, last], milestones=[3])
# '''
# requires = ">=2.6"
# affected = { cpu = ">=2.8", cuda = ">=2.8", mps = ">=2.8" }
# ///
"""The first epoch trains with the learning rate that belongs to the second.

SequentialLR repeats the first step of the schedule that it starts with. From 2.8 on,
ExponentialLR and others know such a step by a flag instead of by epoch 0
(pytorch#149312), and it is set on the ChainedScheduler alone: the schedulers in it
decay (torch/optim/lr_scheduler.py). Before 2.6 SequentialLR could not hold a
ChainedScheduler at all (pytorch#132745).
"""

import torch
from torch.optim.lr_scheduler import ChainedScheduler, ConstantLR, ExponentialLR, SequentialLR


def check(device, wrap):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    first = wrap(ExponentialLR(optimizer, 0.5))
    last = ConstantLR(optimizer, 0.1)
    SequentialLR(optimizer, [first, last], milestones=[3])
    rate = optimizer.param_groups[0]["lr"]
    if rate != 1.0:
        return f"first learning rate is {rate}, not 1.0"


def reproduce(device):
    return check(device, lambda scheduler: ChainedScheduler([scheduler]))


def control(device):
    return check(device, lambda scheduler: scheduler)


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
