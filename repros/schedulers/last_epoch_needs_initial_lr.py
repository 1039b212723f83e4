# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A scheduler with last_epoch raises KeyError for a new optimizer, which has no initial_lr"
# kind = "error"
# symptom = "param 'initial_lr' is not specified in param_groups"
# messages = ["param .initial_lr. is not specified in param_groups"]
# origin = "usage"
# reports = [
#     "https://github.com/real-stanford/universal_manipulation_interface/issues/70",
#     "https://github.com/stefanopini/simple-HRNet/issues/33",
#     "https://github.com/svc-develop-team/so-vits-svc/issues/19",
# ]
# documents = [
#     "https://github.com/akamaster/pytorch_resnet_cifar10/pull/14",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LRScheduler.html",
# ]
# wrong = '''
# model.load_state_dict(checkpoint["model"])
# scheduler = MultiStepLR(optimizer, milestones=[2], gamma=0.1, last_epoch=checkpoint["epoch"])
# '''
# right = '''
# model.load_state_dict(checkpoint["model"])
# scheduler = MultiStepLR(optimizer, milestones=[2], gamma=0.1)
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler.load_state_dict(checkpoint["scheduler"])
# '''
# fix = "schedulers.ScheduleLR"
# use = '''
# from schedulers import ScheduleLR
# model.load_state_dict(checkpoint["model"])
# epoch = checkpoint["epoch"]
# scheduler = ScheduleLR(optimizer, lambda step: 0.1 if step >= 2 else 1.0, step=epoch + 1)
# '''
# choice = "Normally, use the lines without the fix; use the fix if the checkpoint contains neither the optimizer's nor the scheduler's state. The fix continues the learning rate but restarts the momentum"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A training run that is resumed with last_epoch fails when it builds the scheduler.

A scheduler that starts at last_epoch=-1 writes "initial_lr" into the optimizer's groups, and
"initial_lr" is part of the optimizer's state (torch/optim/lr_scheduler.py). A new optimizer has no
"initial_lr".

The usual advice is to write "initial_lr" by hand (akamaster/pytorch_resnet_cifar10#14). The error
disappears, but the rate is not decayed. Most schedulers only multiply the group's rate (get_lr() in
torch/optim/lr_scheduler.py), and the milestone has passed. The advice is right for LambdaLR, as in
real-stanford/universal_manipulation_interface#70. However, it can put CosineAnnealingWarmRestarts
into a different cycle, and OneCycleLR then raises KeyError: 'max_lr'. SequentialLR raises no error,
but starts again (see schedulers/sequential_lr_forgets_last_epoch).
"""

import torch
from torch.optim.lr_scheduler import MultiStepLR


def parts(device):
    model = torch.nn.Linear(1, 1).to(device)
    return model, torch.optim.SGD(model.parameters(), lr=1.0)


def interrupted(device):
    model, optimizer = parts(device)
    scheduler = MultiStepLR(optimizer, milestones=[2], gamma=0.1)
    for _ in range(4):
        optimizer.step()
        scheduler.step()
    kept = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    return {"epoch": 3, **{name: part.state_dict() for name, part in kept.items()}}


def check(optimizer):
    rate = optimizer.param_groups[0]["lr"]
    if abs(rate - 0.1) > 1e-6:
        return f"resumed with learning rate {rate}, stopped with 0.1"


def resume(device, checkpoint):
    model, optimizer = parts(device)
    for group in optimizer.param_groups:
        group.update(checkpoint.get("by hand", {}))
    try:
        model.load_state_dict(checkpoint["model"])
        scheduler = MultiStepLR(
            optimizer, milestones=[2], gamma=0.1, last_epoch=checkpoint["epoch"]
        )
    except KeyError as error:
        return str(error)
    return check(scheduler.optimizer)


def reproduce(device):
    return resume(device, interrupted(device))


def control(device):
    checkpoint = interrupted(device)
    model, optimizer = parts(device)
    model.load_state_dict(checkpoint["model"])
    scheduler = MultiStepLR(optimizer, milestones=[2], gamma=0.1)
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    return check(optimizer)


def popular_fix(device):
    return resume(device, {**interrupted(device), "by hand": {"initial_lr": 1.0}})


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
