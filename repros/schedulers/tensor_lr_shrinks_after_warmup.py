# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "With a tensor learning rate, SequentialLR applies the factor of its warmup forever"
# kind = "silent"
# symptom = "learning rates are \\[0\\.1, 0\\.1, 0\\.1, 0\\.05"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/162359"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/123753",
#     "https://github.com/pytorch/pytorch/pull/163098",
#     "https://docs.pytorch.org/tutorials/recipes/compiling_optimizer_lr_scheduler.html",
# ]
# fixed_by = "pytorch#163098"
# wrong = '''
# optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1.0))
# warmup, decay = ConstantLR(optimizer, 0.1), ExponentialLR(optimizer, 0.5)
# scheduler = SequentialLR(optimizer, [warmup, decay], milestones=[2])
# '''
# right = '''
# optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
# warmup, decay = ConstantLR(optimizer, 0.1), ExponentialLR(optimizer, 0.5)
# scheduler = SequentialLR(optimizer, [warmup, decay], milestones=[2])
# for group in optimizer.param_groups:
#     group["lr"] = torch.tensor(group["lr"])  # the schedulers write into it from now on
# '''
# fix = "schedulers.ScheduleLR"
# use = '''
# from schedulers import ScheduleLR, linear, sequence
# optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1.0))
# factor = sequence(linear(2, 0.1, 0.1), lambda step: 0.5**step)
# scheduler = ScheduleLR(optimizer, factor)
# '''
# choice = "With torch's schedulers, use the lines without the fix. Use the fix if a single tensor must hold the learning rate on every release. Before 2.4, torch's schedulers replace the tensor, and CosineAnnealingWarmRestarts does so on 2.7 too"
# affected = { cpu = ">=2.4,<2.10", cuda = ">=2.4,<2.10", mps = ">=2.4,<2.10" }
# ///
"""The learning rate does not rise when the warmup ends, but decays from the low warmup rate.

The tutorial for compiled optimizers recommends a tensor learning rate (docs:
recipes/compiling_optimizer_lr_scheduler). The constructor of SequentialLR used the same tensor for
the "lr" and "initial_lr" of each group. Since 2.4, schedulers write the rate in place
(pytorch#123753), so the warmup also changed the base rate of all later schedulers (pytorch#162359).
"""

import torch
from torch.optim.lr_scheduler import ConstantLR, ExponentialLR, SequentialLR


def train(optimizer, scheduler):
    rates = []
    for _ in range(4):
        rates.append(round(float(optimizer.param_groups[0]["lr"]), 3))
        optimizer.step()
        scheduler.step()
    if rates != [0.1, 0.1, 1.0, 0.5]:
        return f"learning rates are {rates}"


def reproduce(device):
    model = torch.nn.Linear(1, 1).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1.0))
    warmup, decay = ConstantLR(optimizer, 0.1), ExponentialLR(optimizer, 0.5)
    scheduler = SequentialLR(optimizer, [warmup, decay], milestones=[2])
    return train(optimizer, scheduler)


def control(device):
    model = torch.nn.Linear(1, 1).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1.0)
    warmup, decay = ConstantLR(optimizer, 0.1), ExponentialLR(optimizer, 0.5)
    scheduler = SequentialLR(optimizer, [warmup, decay], milestones=[2])
    for group in optimizer.param_groups:
        group["lr"] = torch.tensor(group["lr"])  # the schedulers write into it from now on
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
