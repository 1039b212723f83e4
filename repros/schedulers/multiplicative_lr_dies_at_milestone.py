# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "MultiplicativeLR applies one factor too many at a milestone of SequentialLR"
# kind = "silent"
# symptom = "learning rates are \\[0\\.2, 0\\.2, 0\\.1, 0\\.05, 0\\.025\\]"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py",
#     "https://github.com/pytorch/pytorch/pull/149312",
# ]
# upstream = "unreported"
# wrong = '''
# hold = ConstantLR(optimizer, factor=0.2)
# decay = MultiplicativeLR(optimizer, lambda epoch: 0.5)
# scheduler = SequentialLR(optimizer, [hold, decay], milestones=[2])
# '''
# right = '''
# from torch.optim.lr_scheduler import LambdaLR
# hold = ConstantLR(optimizer, factor=0.2)
# decay = LambdaLR(optimizer, lambda epoch: 0.2 * 0.5**epoch)  # from where hold ends
# scheduler = SequentialLR(optimizer, [hold, decay], milestones=[2])
# '''
# fix = "schedulers.sequence"
# use = '''
# from schedulers import ScheduleLR, linear, sequence
# factor = sequence(linear(2, 0.2, 0.2), lambda epoch: 0.2 * 0.5**epoch)
# scheduler = ScheduleLR(optimizer, factor)
# '''
# choice = "Normally, use the lines without the fix; use the fix for a tensor learning rate, or for a schedule with more than two parts"
# affected = { cpu = ">=2.8", cuda = ">=2.8", mps = ">=2.8" }
# ///
"""The decay starts one epoch early and stays ahead by one factor. If the first factor is zero, as
with t / (t + 1) for a decay by 1/t, the learning rate is zero from the milestone on.

At the milestone, SequentialLR sets the next scheduler to its epoch 0, where MultiplicativeLR used
to leave the rate unchanged. Since pytorch#149312, MultiplicativeLR leaves the rate unchanged only
in its constructor. At the milestone, it multiplies the rate by the factor of epoch 0, which a
MultiplicativeLR outside SequentialLR never uses (torch/optim/lr_scheduler.py).

MultiplicativeLR continues from the current rate. LambdaLR and ExponentialLR start at the base rate,
so the lambda has to start with the factor of the last epoch before the milestone. Here this factor
is 0.2. If the milestone is 6 or later, the factor is 1, because the total_iters of ConstantLR is 5
by default. The factor is also 1 if a warmup has ended before the milestone.
ExponentialLR(optimizer, 0.5) can replace the LambdaLR only if the factor is 1. For a lambda that is
not constant, LambdaLR needs the product of its values for the epochs 1 to `epoch`.
"""

import torch
from torch.optim.lr_scheduler import ConstantLR, LambdaLR, MultiplicativeLR, SequentialLR


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    return optimizer


def train(optimizer, scheduler):
    rates = []
    for _ in range(5):
        rates.append(round(optimizer.param_groups[0]["lr"], 4))
        optimizer.step()
        scheduler.step()
    if rates != [0.2, 0.2, 0.2, 0.1, 0.05]:
        return f"learning rates are {rates}"


def reproduce(device):
    optimizer = start(device)
    hold = ConstantLR(optimizer, factor=0.2)
    decay = MultiplicativeLR(optimizer, lambda epoch: 0.5)
    scheduler = SequentialLR(optimizer, [hold, decay], milestones=[2])
    return train(optimizer, scheduler)


def control(device):
    optimizer = start(device)
    hold = ConstantLR(optimizer, factor=0.2)
    decay = LambdaLR(optimizer, lambda epoch: 0.2 * 0.5**epoch)  # from where hold ends
    scheduler = SequentialLR(optimizer, [hold, decay], milestones=[2])
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
