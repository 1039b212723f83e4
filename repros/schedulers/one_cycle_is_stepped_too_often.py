# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "OneCycleLR fails during training if it is stepped more often than total_steps allows"
# kind = "error"
# symptom = "Tried to step \\d times. The specified number of total steps is 2"
# messages = ["Tried to step \\d{1,12} times\\. The specified number of total steps is \\d{1,12}"]
# origin = "usage"
# reports = ["https://github.com/A4Bio/PiFold/issues/6"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.OneCycleLR.html"]
# wrong = '''
# scheduler = OneCycleLR(optimizer, max_lr=1.0, total_steps=epochs)
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#         scheduler.step()
# '''
# right = '''
# scheduler = OneCycleLR(optimizer, max_lr=1.0, total_steps=epochs * len(loader))
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#         scheduler.step()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A ValueError stops training, because the schedule has ended before training has.

The number of calls to step() is limited to total_steps, one per batch, and OneCycleLR has no rate
for a further call (torch/optim/lr_scheduler.py). Here total_steps was counted in epochs. In
A4Bio/PiFold#6, it was a constant, which is too small if the batches become smaller. To train
longer, create a new schedule, because load_state_dict() restores the old total_steps.

With gradient accumulation, call step() next to optimizer.step(), and set total_steps to the number
of these calls. With epochs * len(loader), the cycle would not finish (see
schedulers/one_cycle_stays_in_its_warmup).
"""

import torch
from torch.optim.lr_scheduler import OneCycleLR

LOADER = [(torch.ones(1, 1), torch.ones(1, 1))] * 3


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer, rates = torch.optim.SGD([weight], lr=1.0, momentum=0.9), []

    def train_step(x, y):
        rates.extend(group["lr"] for group in optimizer.param_groups)
        optimizer.step()

    return optimizer, train_step, rates


def check(rates):
    if max(rates) < 0.9 or rates[-1] > 0.01:
        return f"the learning rates are {rates}, not up to 1 and down to 0"


def reproduce(device, epochs=2, loader=LOADER):
    optimizer, train_step, rates = start(device)
    try:
        scheduler = OneCycleLR(optimizer, max_lr=1.0, total_steps=epochs)
        for epoch in range(epochs):
            for x, y in loader:
                train_step(x, y)
                scheduler.step()
    except ValueError as error:
        return str(error)


def control(device, epochs=2, loader=LOADER):
    optimizer, train_step, rates = start(device)
    scheduler = OneCycleLR(optimizer, max_lr=1.0, total_steps=epochs * len(loader))
    for epoch in range(epochs):
        for x, y in loader:
            train_step(x, y)
            scheduler.step()
    return check(rates)


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
