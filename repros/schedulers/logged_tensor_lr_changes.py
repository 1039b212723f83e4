# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "If ExponentialLR has a tensor learning rate, all rates logged with get_last_lr() change to the last rate"
# kind = "silent"
# symptom = "logged learning rates are \\[0\\.125, 0\\.125, 0\\.125\\]"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/163103"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/123753",
#     "https://github.com/pytorch/pytorch/pull/163120",
# ]
# fixed_by = "pytorch#163120"
# wrong = '''
# history.append(scheduler.get_last_lr()[0])
# '''
# right = '''
# history.append(float(scheduler.get_last_lr()[0]))
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.4,<2.10", cuda = ">=2.4,<2.10", mps = ">=2.4,<2.10" }
# ///
"""The logged learning rates are all equal, because every entry is the same tensor.

The method get_last_lr() returned the param group's own tensor (pytorch#163103), and since 2.4
schedulers write into this tensor (pytorch#123753). Reading optimizer.param_groups[0]["lr"] still
returns the same tensor on 2.13 and 2.15, so copy its value with float(). A learning rate that is a
float is never changed in place.
"""

import torch
from torch.optim.lr_scheduler import ExponentialLR


def start(device):
    weight = torch.zeros(1, device=device, requires_grad=True)
    optimizer = torch.optim.Adam([weight], lr=torch.tensor(1.0))
    return optimizer, ExponentialLR(optimizer, 0.5), []


def check(history):
    rates = [float(rate) for rate in history]
    if rates != [1.0, 0.5, 0.25]:
        return f"logged learning rates are {rates}"


def reproduce(device):
    optimizer, scheduler, history = start(device)
    for _ in range(3):
        optimizer.step()
        history.append(scheduler.get_last_lr()[0])
        scheduler.step()
    return check(history)


def control(device):
    optimizer, scheduler, history = start(device)
    for _ in range(3):
        optimizer.step()
        history.append(float(scheduler.get_last_lr()[0]))
        scheduler.step()
    return check(history)


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
