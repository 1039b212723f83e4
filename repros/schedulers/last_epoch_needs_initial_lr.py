# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A scheduler built with last_epoch for a new optimizer raises KeyError: 'initial_lr' is not specified"
# kind = "error"
# symptom = "param 'initial_lr' is not specified in param_groups"
# messages = ["param .initial_lr. is not specified in param_groups"]
# keywords = [
#     "KeyError when resuming training",
#     "initial_lr missing on resume",
#     "learning rate scheduler fails after loading a checkpoint",
#     "cannot continue the schedule from epoch 10",
#     "scheduler crashes when training is resumed",
#     "passing last_epoch to a scheduler fails",
#     "continue training with the right learning rate fails",
# ]
# origin = "usage"
# reports = [
#     "https://github.com/real-stanford/universal_manipulation_interface/issues/70",
#     "https://github.com/stefanopini/simple-HRNet/issues/33",
#     "https://github.com/mozilla/TTS/issues/57",
# ]
# documents = [
#     "https://github.com/akamaster/pytorch_resnet_cifar10/pull/14",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.lr_scheduler.LRScheduler.html",
# ]
# wrong = '''
# scheduler = MultiStepLR(optimizer, milestones=[2], gamma=0.1, last_epoch=3)
# '''
# right = '''
# scheduler = MultiStepLR(optimizer, milestones=[2], gamma=0.1)
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler.load_state_dict(checkpoint["scheduler"])
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""A training that is resumed with last_epoch fails while the scheduler is built.

"initial_lr" is written into the optimizer's groups by a scheduler that starts at
last_epoch=-1, and is part of the optimizer's state (torch/optim/lr_scheduler.py). A new
optimizer has none.

Writing "initial_lr" by hand is the usual advice
(real-stanford/universal_manipulation_interface#70,
akamaster/pytorch_resnet_cifar10#14). The error goes; the rate is the undecayed one, since
get_lr() of most schedulers multiplies the rate of the group
(torch/optim/lr_scheduler.py), and the milestone has passed.
"""

import torch
from torch.optim.lr_scheduler import MultiStepLR


def resume(device, build):
    weight = torch.zeros(1, device=device, requires_grad=True)
    first = torch.optim.SGD([weight], lr=1.0)
    scheduler = MultiStepLR(first, milestones=[2], gamma=0.1)
    for _ in range(4):
        first.step()
        scheduler.step()
    checkpoint = {"optimizer": first.state_dict(), "scheduler": scheduler.state_dict()}
    optimizer = torch.optim.SGD([weight], lr=1.0)
    try:
        build(optimizer, checkpoint)
    except KeyError as error:
        return str(error)
    rates = [each.param_groups[0]["lr"] for each in (optimizer, first)]
    if rates[0] != rates[1]:
        return f"resumed with learning rate {rates[0]}, stopped with {rates[1]}"


def from_last_epoch(optimizer, checkpoint):
    MultiStepLR(optimizer, milestones=[2], gamma=0.1, last_epoch=3)


def from_state(optimizer, checkpoint):
    scheduler = MultiStepLR(optimizer, milestones=[2], gamma=0.1)
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])


def by_hand(optimizer, checkpoint):
    optimizer.param_groups[0]["initial_lr"] = 1.0
    from_last_epoch(optimizer, checkpoint)


def reproduce(device):
    return resume(device, from_last_epoch)


def control(device):
    return resume(device, from_state)


def popular_fix(device):
    return resume(device, by_hand)


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
