# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If CosineAnnealingLR is stepped per batch with T_max in epochs, the learning rate rises again"
# kind = "silent"
# symptom = "the learning rate ended at 1\\.00, eta_min is 0"
# origin = "usage"
# reports = ["https://github.com/ivadomed/ivadomed/issues/57"]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.CosineAnnealingLR.html"]
# wrong = '''
# scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#         scheduler.step()
# '''
# right = '''
# scheduler = CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#         scheduler.step()
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The learning rate falls and rises alternately, in as many half-waves as an epoch has batches. If
this number is even, training ends at the peak.

CosineAnnealingLR does not stop after T_max calls to step(). The rate continues along the cosine
(torch/optim/lr_scheduler.py), here to the top of a wave. If the scheduler is stepped per batch with
T_max in epochs, the rate completes a wave every 2 * T_max batches (ivadomed/ivadomed#57). Note that
load_state_dict() restores the checkpoint's T_max. If you step the scheduler once for several
accumulated batches, set T_max to the number of these steps. With T_max in batches and two batches
per step, training ends at half of the initial rate.
"""

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR

LOADER = [(torch.ones(1, 1), torch.ones(1, 1))] * 2


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0, momentum=0.9)

    def train_step(x, y):
        optimizer.step()

    return optimizer, train_step


def check(scheduler):
    rate = scheduler.get_last_lr()[0]
    if rate > 1e-6:
        return f"the learning rate ended at {rate:.2f}, eta_min is 0"


def reproduce(device, epochs=4, loader=LOADER):
    optimizer, train_step = start(device)
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    for epoch in range(epochs):
        for x, y in loader:
            train_step(x, y)
            scheduler.step()
    return check(scheduler)


def control(device, epochs=4, loader=LOADER):
    optimizer, train_step = start(device)
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
    for epoch in range(epochs):
        for x, y in loader:
            train_step(x, y)
            scheduler.step()
    return check(scheduler)


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
