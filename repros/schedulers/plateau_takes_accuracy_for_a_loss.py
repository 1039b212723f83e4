# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "ReduceLROnPlateau lowers the learning rate while the accuracy rises, because its mode is 'min'"
# kind = "silent"
# symptom = "the rate falls to 0.001 while the accuracy rises|the rate never falls"
# origin = "design"
# reports = ["https://github.com/md-mohaiminul/ViS4mer/issues/4"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.ReduceLROnPlateau.html",
#     "https://github.com/eecn/Hyperspectral-Classification/issues/19",
# ]
# wrong = '''
# scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
# for accuracy in accuracies:
#     scheduler.step(accuracy)
# '''
# right = '''
# scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=1)
# for accuracy in accuracies:
#     scheduler.step(accuracy)
# '''
# rule = "error"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""The rate is divided by ten after every few epochs, although the model improves in each epoch.

By default, the scheduler treats a lower metric as better (docs: ReduceLROnPlateau). With
step(accuracy), the first epoch, which is the worst, therefore still counts as the best. The same
happens with mode="max" and a loss. If you pass -accuracy instead
(eecn/Hyperspectral-Classification#19), an accuracy that stays constant never lowers the rate
(popular fix). The default threshold is relative: after a value below 0, even an equal value counts
as an improvement. For a loss that can be below 0, pass threshold_mode="abs". The state_dict()
contains the mode, so load_state_dict() of an old checkpoint restores the old mode.
"""

import torch


def start(device):
    parameter = torch.nn.Parameter(torch.zeros(1, device=device))
    return torch.optim.SGD([parameter], lr=0.1)


def check(optimizer, scheduler, last):
    rate = optimizer.param_groups[0]["lr"]
    if rate < 0.09:
        return f"the rate falls to {rate:.3f} while the accuracy rises"
    for _ in range(10):
        scheduler.step(last)
    if optimizer.param_groups[0]["lr"] == rate:
        return "the rate never falls, although the accuracy has stopped rising"


def reproduce(device):
    optimizer, accuracies = start(device), (0.5, 0.6, 0.7, 0.8, 0.9)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    for accuracy in accuracies:
        scheduler.step(accuracy)
    return check(optimizer, scheduler, 0.9)


def control(device):
    optimizer, accuracies = start(device), (0.5, 0.6, 0.7, 0.8, 0.9)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", patience=1)
    for accuracy in accuracies:
        scheduler.step(accuracy)
    return check(optimizer, scheduler, 0.9)


def popular_fix(device):
    optimizer, accuracies = start(device), (0.5, 0.6, 0.7, 0.8, 0.9)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    for accuracy in accuracies:
        scheduler.step(-accuracy)
    return check(optimizer, scheduler, -0.9)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, popular_fix):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
