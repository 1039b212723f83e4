# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A SequentialLR that starts with a ChainedScheduler of an ExponentialLR decays once too often"
# kind = "silent"
# symptom = "first learning rate is 0\\.25, not 0\\.5"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/196243"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/149312",
#     "https://github.com/pytorch/pytorch/issues/132745",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py",
# ]
# wrong = '''
# first = ChainedScheduler([LinearLR(optimizer, 0.5, total_iters=2), ExponentialLR(optimizer, 0.5)])
# scheduler = SequentialLR(optimizer, [first, last], milestones=[3])
# '''
# right = '''
# from torch.optim.lr_scheduler import LambdaLR
# first = LambdaLR(optimizer, lambda n: min(1, 0.5 + 0.25 * n) * 0.5**n)  # the product of both
# scheduler = SequentialLR(optimizer, [first, last], milestones=[3])
# '''
# requires = ">=2.6"
# affected = { cpu = ">=2.8", cuda = ">=2.8", mps = ">=2.8" }
# ///
"""Every epoch up to the milestone trains with half the intended learning rate.

SequentialLR repeats the first step of its first schedule. Since 2.8, ExponentialLR and other
schedulers recognize this step by a flag instead of by epoch 0 (pytorch#149312). The flag is set
only on the ChainedScheduler, so the ExponentialLR in it decays during this step. MultiplicativeLR
and PolynomialLR also decay once too often, and CosineAnnealingLR starts above its initial rate.
StepLR, LambdaLR and LinearLR work correctly (torch/optim/lr_scheduler.py). Before 2.6, SequentialLR
could not contain a ChainedScheduler (pytorch#132745). If a ChainedScheduler contains a single
scheduler, use that scheduler directly. For several schedulers, multiply their factors in one
LambdaLR.
"""

import torch
from torch.optim.lr_scheduler import (
    ChainedScheduler,
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    SequentialLR,
)


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    return torch.optim.SGD([weight], lr=1.0)


def check(optimizer, scheduler):
    rates = []
    for _ in range(4):
        rates.append(round(optimizer.param_groups[0]["lr"], 4))
        optimizer.step()
        scheduler.step()
    if rates[0] != 0.5:
        return f"first learning rate is {rates[0]}, not 0.5"
    if rates != [0.5, 0.375, 0.25, 0.1]:
        return f"learning rates are {rates}"


def reproduce(device):
    optimizer = start(device)
    last = ConstantLR(optimizer, 0.1)
    first = ChainedScheduler(
        [LinearLR(optimizer, 0.5, total_iters=2), ExponentialLR(optimizer, 0.5)]
    )
    scheduler = SequentialLR(optimizer, [first, last], milestones=[3])
    return check(optimizer, scheduler)


def control(device):
    optimizer = start(device)
    last = ConstantLR(optimizer, 0.1)
    first = LambdaLR(optimizer, lambda n: min(1, 0.5 + 0.25 * n) * 0.5**n)  # the product of both
    scheduler = SequentialLR(optimizer, [first, last], milestones=[3])
    return check(optimizer, scheduler)


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
