# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A scheduler stepped before the optimizer skips the first learning rate of its schedule"
# kind = "silent"
# symptom = "Detected call of .lr_scheduler.step.*the first update used 0\\.5, not 1\\.0"
# messages = ["Detected call of .{0,3}lr_scheduler\\.step\\(\\).{0,3} before .{0,3}optimizer\\.step\\(\\)"]
# origin = "design"
# reports = ["https://github.com/ThilinaRajapakse/pytorch-transformers-classification/issues/21"]
# documents = ["https://docs.pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"]
# wrong = '''
# scheduler.step()
# optimizer.step()
# '''
# right = '''
# optimizer.step()
# scheduler.step()  # where the schedule counts epochs: once, after the last batch
# '''
# rule = "warning"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The schedule is one step ahead of training, and torch warns about this once.
CosineAnnealingWarmRestarts gives no warning (torch/optim/lr_scheduler.py).

A scheduler's constructor already sets the first rate, and every step() sets the rate for the next
update (torch/optim/lr_scheduler.py). Until torch 1.1 the scheduler was stepped first, and examples
from that time still use this order (ThilinaRajapakse/pytorch-transformers-classification#21). If
scheduler.step() is called at the start of an epoch, move the call to the end of the epoch. Do not
move the call into the loop over the batches, next to optimizer.step(): it would then be made once
per batch.
"""

import warnings

import torch


def train(device, scheduler_first):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    weight.sum().backward()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if scheduler_first:
            scheduler.step()
            optimizer.step()
        else:
            optimizer.step()
            scheduler.step()  # where the schedule counts epochs: once, after the last batch
    if caught or weight.item() != -1.0:
        said = caught[0].message if caught else "no warning"
        return f"{said}; the first update used {-weight.item()}, not 1.0"


def reproduce(device):
    return train(device, scheduler_first=True)


def control(device):
    return train(device, scheduler_first=False)


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
