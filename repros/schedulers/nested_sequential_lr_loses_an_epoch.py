# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A SequentialLR inside of a SequentialLR has other learning rates than on its own"
# kind = "silent"
# symptom = "learning rates are \\[(0\\.5, 0\\.2|1\\.0, 1\\.0), 0\\.2"
# keywords = [
#     "SequentialLR wrong learning rate",
#     "nested learning rate schedulers",
#     "nested SequentialLR is off by one",
#     "schedule inside a schedule ends too early",
#     "warmup shortened by one epoch in combined scheduler",
#     "learning rates shifted by one in nested scheduler",
#     "inner schedule skips its first value",
#     "combination of three schedulers gives unexpected lr",
#     "warmup cosine wrapped twice has the wrong lr",
#     "lr differs when SequentialLR is put in another one",
#     "first learning rate skipped in composite schedule",
#     "schedule changes when wrapped in another scheduler",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/196243"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/196242",
#     "https://github.com/pytorch/pytorch/issues/132745",
# ]
# wrong = '''
# scheduler = SequentialLR(optimizer, [warmup, hold], milestones=[2])
# scheduler = SequentialLR(optimizer, [scheduler, cooldown], milestones=[4])
# '''
# right = '''
# scheduler = SequentialLR(optimizer, [warmup, hold, cooldown], milestones=[2, 4])
# '''
# fix = "schedulers.sequence"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The inner schedule runs one epoch early.

The constructor of the outer SequentialLR takes back the first step of all schedulers
and repeats it for the first one. For an inner SequentialLR it repeats it with step(),
which advances that one by an epoch (pytorch#196242). Before 2.6 it took back the first
step of the inner one alone, not those of the schedulers in it (pytorch#132745), and the
rate of the warmup was never set.
"""

import torch
from torch.optim.lr_scheduler import ConstantLR, SequentialLR


def train(device, build):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer, rates = torch.optim.SGD([weight], lr=1.0), []
    scheduler = build(optimizer, *(ConstantLR(optimizer, f, 9) for f in (0.5, 0.2, 0.1)))
    for _ in range(5):
        rates.append(round(optimizer.param_groups[0]["lr"], 2))
        optimizer.step()
        scheduler.step()
    if rates != [0.5, 0.5, 0.2, 0.2, 0.1]:
        return f"learning rates are {rates}"


def nested(optimizer, warmup, hold, cooldown):
    inner = SequentialLR(optimizer, [warmup, hold], milestones=[2])
    return SequentialLR(optimizer, [inner, cooldown], milestones=[4])


def flat(optimizer, *schedulers):
    return SequentialLR(optimizer, [*schedulers], milestones=[2, 4])


def reproduce(device):
    return train(device, nested)


def control(device):
    return train(device, flat)


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
