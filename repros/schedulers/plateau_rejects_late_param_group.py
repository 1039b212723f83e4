# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ReduceLROnPlateau raises IndexError after add_param_group()"
# kind = "error"
# symptom = "list index out of range"
# messages = ['self\.min_lrs\[i\].{0,200}?IndexError: list index out of range']
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/20997",
#     "https://github.com/pytorch/pytorch/issues/53712",
#     "https://github.com/pytorch/pytorch/issues/62475",
#     "https://github.com/pytorch/pytorch/issues/104361",
#     "https://github.com/Lightning-AI/pytorch-lightning/issues/12141",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/137637",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/lr_scheduler.py",
# ]
# fixed_by = "pytorch#137637"
# wrong = '''
# scheduler = ReduceLROnPlateau(optimizer, patience=0)
# optimizer.add_param_group({"params": [backbone]})
# '''
# right = '''
# scheduler = ReduceLROnPlateau(optimizer, patience=0)
# optimizer.add_param_group({"params": [backbone]})
# scheduler.min_lrs.append(scheduler.min_lrs[0])
# '''
# affected = { cpu = "<2.6", cuda = "<2.6", mps = "<2.6" }
# ///
"""The scheduler fails at the first plateau after a parameter group was added.

The constructor of ReduceLROnPlateau stores one minimum per parameter group. For a group that was
added later, there was no minimum at the group's index (pytorch#104361). The error occurs epochs
after its cause, because the minima are read only by a step that reduces the learning rate
(torch/optim/lr_scheduler.py). Loading the state of a scheduler with fewer groups causes the same
error, because the state includes the minima. Append the missing minima after load_state_dict().
"""

import traceback

import torch
from torch.optim.lr_scheduler import ReduceLROnPlateau


def start(device):
    head, backbone = (torch.ones(1, device=device, requires_grad=True) for _ in range(2))
    return torch.optim.SGD([head], lr=0.1), backbone


def check(optimizer, scheduler):
    for _ in range(2):
        scheduler.step(1.0)
    rates = [group["lr"] for group in optimizer.param_groups]
    if any(abs(rate - 0.01) > 1e-6 for rate in rates):
        return f"the learning rates are {rates}, not 0.01"


def plateau(device):
    optimizer, backbone = start(device)
    scheduler = ReduceLROnPlateau(optimizer, patience=0)
    optimizer.add_param_group({"params": [backbone]})
    return check(optimizer, scheduler)


def reproduce(device):
    try:
        return plateau(device)
    except IndexError as error:
        return str(error)


def control(device):
    optimizer, backbone = start(device)
    scheduler = ReduceLROnPlateau(optimizer, patience=0)
    optimizer.add_param_group({"params": [backbone]})
    scheduler.min_lrs.append(scheduler.min_lrs[0])
    return check(optimizer, scheduler)


def messages(device):
    try:
        plateau(device)
    except IndexError:
        return traceback.format_exc()


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
