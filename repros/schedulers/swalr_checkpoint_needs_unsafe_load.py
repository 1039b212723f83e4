# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A checkpoint with the state of SWALR cannot be loaded with weights_only"
# kind = "error"
# symptom = "(class __builtin__\\.|GLOBAL (builtins\\.)?)getattr"
# messages = [
#     "GLOBAL (builtins\\.)?getattr was not an allowed global by default",
#     "Unsupported class __builtin__\\.getattr",
# ]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/163105"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/163122",
#     "https://github.com/pytorch/pytorch/pull/123775",
# ]
# fixed_by = "pytorch#163122"
# wrong = '''
# torch.save(scheduler.state_dict(), file)
# state = torch.load(file, weights_only=True)
# '''
# right = '''
# state = scheduler.state_dict()
# state.pop("anneal_func", None)  # a new SWALR has its own
# torch.save(state, file)
# state = torch.load(file, weights_only=True)
# '''
# fix = "upgrade"
# requires = ">=2.0"
# affected = { cpu = ">=2.0,<2.10", cuda = ">=2.0,<2.10", mps = ">=2.0,<2.10" }
# ///
"""A checkpoint that torch itself has written is rejected by torch.load().

SWALR's state contains its annealing function, and weights_only, the default since 2.6, does not
load functions (pytorch#163105). OneCycleLR had the same bug until pytorch#123775. With
weights_only, 1.13 does not load floats either, so it cannot show the failure. If your own file was
saved with the function, load it with weights_only=False. In a SequentialLR, the function is in one
of the states in state["_schedulers"]; remove it there (torch/optim/lr_scheduler.py).
"""

import os
import pickle
import tempfile

import torch


def make(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    return torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.1)


def train(scheduler, steps):
    for _ in range(steps):
        scheduler.optimizer.step()
        scheduler.step()


def reproduce(device):
    scheduler = make(device)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "scheduler.pt")
        try:
            torch.save(scheduler.state_dict(), file)
            state = torch.load(file, weights_only=True)
            scheduler.load_state_dict(state)
        except pickle.UnpicklingError as error:
            return str(error)


def control(device):
    scheduler = make(device)
    train(scheduler, 3)
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "scheduler.pt")
        state = scheduler.state_dict()
        state.pop("anneal_func", None)  # a new SWALR has its own
        torch.save(state, file)
        state = torch.load(file, weights_only=True)
    resumed = make(device)
    resumed.optimizer.load_state_dict(scheduler.optimizer.state_dict())
    resumed.load_state_dict(state)
    train(resumed, 7)
    rate = resumed.get_last_lr()[0]
    if abs(rate - 0.1) > 1e-6:
        return f"resumed, the learning rate ends at {rate}, not at 0.1"


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
