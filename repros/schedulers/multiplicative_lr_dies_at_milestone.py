# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "MultiplicativeLR applies one factor too many at a milestone of SequentialLR"
# kind = "silent"
# symptom = "learning rates are \\[1\\.0, 1\\.0, 0\\.0, 0\\.0, 0\\.0\\]"
# keywords = [
#     "learning rate is zero after warmup",
#     "lr stuck at 0",
#     "decays an epoch early",
#     "lr becomes zero at the milestone",
#     "learning rate zero after the warmup phase ends",
#     "training stops making progress after warmup",
#     "loss is flat from epoch 5 on, lr is 0",
#     "SequentialLR second scheduler starts one step ahead",
#     "model stops learning when the schedule switches",
#     "lr drops to 0 when MultiplicativeLR takes over",
#     "learning rate too low after switching schedulers",
#     "flat loss since scheduler milestone",
#     "custom lambda schedule applied one time too often",
# ]
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py",
#     "https://github.com/pytorch/pytorch/pull/149312",
# ]
# upstream = "unreported"
# wrong = '''
# decay = MultiplicativeLR(optimizer, lambda epoch: epoch / (epoch + 1))
# scheduler = SequentialLR(optimizer, [hold, decay], milestones=[2])
# '''
# right = '''
# decay = LambdaLR(optimizer, lambda epoch: 1 / (epoch + 1))
# scheduler = SequentialLR(optimizer, [hold, decay], milestones=[2])
# '''
# fix = "schedulers.sequence"
# affected = { cpu = ">=2.8", cuda = ">=2.8", mps = ">=2.8" }
# ///
"""The learning rate is zero from the milestone on, and nothing is learned any more.

At the milestone SequentialLR sets the next scheduler to its epoch 0, where
MultiplicativeLR used to leave the rate alone. Since pytorch#149312 it leaves it alone
only while it is built, and at the milestone multiplies by the factor of epoch 0, for
which it is never asked on its own (torch/optim/lr_scheduler.py). The factors of a decay
by 1/t are t / (t + 1), and the first of them is zero.
"""

import torch
from torch.optim.lr_scheduler import ConstantLR, LambdaLR, MultiplicativeLR, SequentialLR


def train(device, build):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer, rates = torch.optim.SGD([weight], lr=1.0), []
    hold, decay = ConstantLR(optimizer, factor=1.0), build(optimizer)
    scheduler = SequentialLR(optimizer, [hold, decay], milestones=[2])
    for _ in range(5):
        rates.append(round(optimizer.param_groups[0]["lr"], 2))
        optimizer.step()
        scheduler.step()
    if rates != [1.0, 1.0, 1.0, 0.5, 0.33]:
        return f"learning rates are {rates}"


def reproduce(device):
    return train(device, lambda optimizer: MultiplicativeLR(optimizer, lambda t: t / (t + 1)))


def control(device):
    return train(device, lambda optimizer: LambdaLR(optimizer, lambda t: 1 / (t + 1)))


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
