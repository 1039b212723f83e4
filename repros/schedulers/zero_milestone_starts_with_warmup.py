# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "SequentialLR with a milestone at 0 starts with the rate of the scheduler that it skips"
# kind = "silent"
# symptom = "learning rates are \\[0\\.1, 0\\."
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/185872"]
# documents = ["https://github.com/pytorch/pytorch/pull/185986"]
# fixed_by = "pytorch#185986"
# wrong = '''
# scheduler = SequentialLR(optimizer, [warmup, decay], milestones=[0])
# '''
# right = '''
# scheduler = SequentialLR(optimizer, [decay], milestones=[])
# '''
# fix = "schedulers.sequence"
# use = '''
# from schedulers import ScheduleLR, linear, sequence
# factor = sequence(linear(0, 0.1, 1), lambda epoch: 0.5**epoch)  # a warmup of 0 epochs
# scheduler = ScheduleLR(optimizer, factor)
# '''
# choice = "Use the lines without the fix for a single run without a warmup; use the fix if the length of the warmup is a setting that may be 0"
# affected = { cpu = "<2.13", cuda = "<2.13", mps = "<2.13" }
# ///
"""Training without a warmup starts at the low warmup rate and decays from there.

Users set the milestone to 0 to try a training run without its warmup (pytorch#185872). The
constructor still ran the first step of the first scheduler. Then step() switched to the second
scheduler without setting that scheduler to its epoch 0 (pytorch#185986). A scheduler that
multiplies the current rate, such as ExponentialLR, therefore stays on the warmup's scale.
"""

import torch
from torch.optim.lr_scheduler import ExponentialLR, LinearLR, SequentialLR


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    return optimizer, LinearLR(optimizer, 0.1), ExponentialLR(optimizer, 0.5)


def train(optimizer, scheduler):
    rates = []
    for _ in range(3):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    if rates != [1.0, 0.5, 0.25]:
        return f"learning rates are {rates}"


def reproduce(device):
    optimizer, warmup, decay = start(device)
    scheduler = SequentialLR(optimizer, [warmup, decay], milestones=[0])
    return train(optimizer, scheduler)


def control(device):
    optimizer, _, decay = start(device)
    scheduler = SequentialLR(optimizer, [decay], milestones=[])
    return train(optimizer, scheduler)


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
