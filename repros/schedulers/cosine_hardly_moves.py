# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "CosineAnnealingLR with T_max in batches barely decays when stepped once per epoch"
# kind = "silent"
# symptom = "the learning rate ended at 0\\.9\\d, eta_min is 0"
# origin = "usage"
# reports = [
#     "https://github.com/sthalles/SimCLR/issues/8",
#     "https://github.com/sthalles/SimCLR/issues/43",
# ]
# documents = ["https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.CosineAnnealingLR.html"]
# wrong = '''
# scheduler = CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#     scheduler.step()
# '''
# right = '''
# scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
# for epoch in range(epochs):
#     for x, y in loader:
#         train_step(x, y)
#     scheduler.step()
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""With 10 or more batches per epoch, training ends with nearly the same learning rate that it
started with. With 2 batches, it ends with half of this rate.

T_max is the number of calls to step() (torch/optim/lr_scheduler.py), whether the call is made per
batch or per epoch. With T_max in batches and one call per epoch, training uses only the flat
beginning of the cosine (sthalles/SimCLR#8). Note that load_state_dict() restores the checkpoint's
T_max.
"""

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR

LOADER = [(torch.ones(1, 1), torch.ones(1, 1))] * 10


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


def reproduce(device, epochs=10, loader=LOADER):
    optimizer, train_step = start(device)
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs * len(loader))
    for epoch in range(epochs):
        for x, y in loader:
            train_step(x, y)
        scheduler.step()
    return check(scheduler)


def control(device, epochs=10, loader=LOADER):
    optimizer, train_step = start(device)
    scheduler = CosineAnnealingLR(optimizer, T_max=epochs)
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
