# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If StepLR is stepped per batch with step_size in epochs, the learning rate drops within the first epochs"
# kind = "silent"
# symptom = "after 3 of 10 epochs, the learning rate is 0\\.0010, not 1"
# origin = "usage"
# reports = ["https://github.com/nodefluxio/vortex/issues/58"]
# documents = ["https://github.com/ivadomed/ivadomed/pull/55"]
# wrong = '''
# scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5)  # in epochs
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#         scheduler.step()
# '''
# right = '''
# scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5)  # in epochs
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#     scheduler.step()
# '''
# rule = "warning"
# when = "step_size, milestones or gamma are meant per epoch"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The loss falls at first and then no longer changes, because the learning rate is almost 0.

A scheduler counts its calls to step(), not epochs (torch/optim/lr_scheduler.py). In the batch loop,
step_size=5 means five batches (ivadomed/ivadomed#55), and the rate falls by a factor of ten several
times per epoch. MultiStepLR and ExponentialLR behave in the same way. OneCycleLR, CyclicLR and
warm-ups are usually defined in batches. If a trainer steps every scheduler in the same place, this
place is therefore wrong for one of the two kinds (nodefluxio/vortex#58). If the schedule has to
fall within an epoch, keep the call in the batch loop and give step_size in batches.
"""

import torch

LOADER = [(torch.ones(1, 1), torch.ones(1, 1))] * 5


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)

    def train_step(x, y):
        optimizer.step()

    return optimizer, train_step


def check(optimizer):
    rate = optimizer.param_groups[0]["lr"]
    if abs(rate - 1) > 1e-6:
        return f"after 3 of 10 epochs, the learning rate is {rate:.4f}, not 1"


def reproduce(device, epochs=3, loader=LOADER):
    optimizer, train_step = start(device)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5)  # in epochs
    for epoch in range(epochs):
        for x, y in loader:
            train_step(x, y)
            scheduler.step()
    return check(optimizer)


def control(device, epochs=3, loader=LOADER):
    optimizer, train_step = start(device)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5)  # in epochs
    for epoch in range(epochs):
        for x, y in loader:
            train_step(x, y)
        scheduler.step()
    return check(optimizer)


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
