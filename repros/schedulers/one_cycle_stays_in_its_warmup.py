# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "OneCycleLR with total_steps in batches never leaves the warmup when stepped once per epoch"
# kind = "silent"
# symptom = "the highest learning rate was 0\\.\\d\\d, max_lr is 1"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/65417"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.OneCycleLR.html",
#     "https://github.com/espnet/espnet/pull/3319",
# ]
# wrong = '''
# scheduler = OneCycleLR(optimizer, max_lr=1.0, total_steps=epochs * len(loader))
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#     scheduler.step()
# '''
# right = '''
# scheduler = OneCycleLR(optimizer, max_lr=1.0, total_steps=epochs * len(loader))
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#         scheduler.step()
# '''
# rule = "error"
# when = "an epoch has more than 1 / pct_start batches (by default, more than 3)"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""If an epoch has more than 1 / pct_start batches, the learning rate rises throughout training and
ends below max_lr. With the defaults and 10 epochs, it ends at 0.92 of max_lr if an epoch has 4
batches, and at 0.25 if it has 10. With 100 batches, it ends at 0.04 of max_lr, where it started.

OneCycleLR expects a step after every batch (docs: torch.optim.lr_scheduler.OneCycleLR). Trainers
that step their schedulers once per epoch use only a fraction of the schedule (pytorch#65417,
espnet/espnet#3319). If you step the scheduler once for several accumulated batches, set total_steps
to the number of these steps.
"""

import torch
from torch.optim.lr_scheduler import OneCycleLR

LOADER = [(torch.ones(1, 1), torch.ones(1, 1))] * 10


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer, rates = torch.optim.SGD([weight], lr=1.0, momentum=0.9), []

    def train_step(x, y):
        rates.extend(group["lr"] for group in optimizer.param_groups)
        optimizer.step()

    return optimizer, train_step, rates


def check(rates):
    if max(rates) < 0.9:
        return f"the highest learning rate was {max(rates):.2f}, max_lr is 1"
    if rates[-1] > 0.01:
        return f"the last learning rate was {rates[-1]:.2f}, not near 0"


def reproduce(device, epochs=4, loader=LOADER):
    optimizer, train_step, rates = start(device)
    scheduler = OneCycleLR(optimizer, max_lr=1.0, total_steps=epochs * len(loader))
    for epoch in range(epochs):
        for x, y in loader:
            train_step(x, y)
        scheduler.step()
    return check(rates)


def control(device, epochs=4, loader=LOADER):
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
