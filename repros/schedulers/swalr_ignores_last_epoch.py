# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "SWALR built with last_epoch restarts its annealing"
# kind = "silent"
# symptom = "the learning rate after 10 epochs is 0.325, not 0.1"
# origin = "torch"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/optim/swa_utils.py",
#     "https://docs.pytorch.org/docs/stable/generated/torch.optim.swa_utils.SWALR.html",
# ]
# upstream = "unreported"
# wrong = '''
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler = SWALR(optimizer, 0.1, 10, "linear", last_epoch=4)
# '''
# right = '''
# scheduler = SWALR(optimizer, 0.1, 10, "linear")
# optimizer.load_state_dict(checkpoint["optimizer"])
# scheduler.load_state_dict(checkpoint["scheduler"])
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""If training is resumed after epoch 5 of 10, the learning rate takes 10 more epochs to reach its
final value.

SWALR accepts "the index of the last epoch" (docs: torch.optim.swa_utils.SWALR). However, get_lr()
computes the position from the number of SWALR's own steps: `step = self._step_count - 1`
(torch/optim/swa_utils.py).

To resume training, you also need the state of the AveragedModel. On 2.6 to 2.9, torch.load() loads
the state of SWALR only as described in schedulers/swalr_checkpoint_needs_unsafe_load.
"""

import torch
from torch.optim.swa_utils import SWALR


def make(device):
    parameter = torch.zeros(1, device=device, requires_grad=True)
    return torch.optim.SGD([parameter], lr=1.0)


def train(optimizer, scheduler):
    for _ in range(5):
        optimizer.step()
        scheduler.step()


def interrupted(device):
    optimizer = make(device)
    scheduler = SWALR(optimizer, 0.1, 10, "linear")
    train(optimizer, scheduler)
    return {"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict()}


def check(optimizer, scheduler):
    train(optimizer, scheduler)
    lr = optimizer.param_groups[0]["lr"]
    if abs(lr - 0.1) > 1e-6:
        return f"the learning rate after 10 epochs is {lr:.3f}, not 0.1"


def reproduce(device):
    checkpoint = interrupted(device)
    optimizer = make(device)
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler = SWALR(optimizer, 0.1, 10, "linear", last_epoch=4)
    return check(optimizer, scheduler)


def control(device):
    checkpoint = interrupted(device)
    optimizer = make(device)
    scheduler = SWALR(optimizer, 0.1, 10, "linear")
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    return check(optimizer, scheduler)


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
