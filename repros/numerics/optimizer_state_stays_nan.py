# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Restoring good weights after a NaN step brings the NaN back at the next step"
# kind = "silent"
# symptom = "nan again after one clean step"
# keywords = ["nan comes back after loading the checkpoint"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/196083"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.optim.Adam.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.Snapshot"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Adam's moments were written by the bad step too, and every later step is computed
from them.

A checkpoint to fall back on has to hold the optimizer's state. A smaller learning rate
after the restore does not help.
"""

import copy

import torch


def recover(device, restore_optimizer, lr=0.1):
    weight = torch.nn.Parameter(torch.ones(2, device=device))
    optimizer = torch.optim.Adam([weight], lr=lr)
    weight.grad = torch.ones_like(weight)
    optimizer.step()
    good_weight, good_state = weight.detach().clone(), copy.deepcopy(optimizer.state_dict())
    for gradient in (float("nan"), 1.0):
        weight.grad = torch.full_like(weight, gradient)
        optimizer.step()
        if gradient != gradient:  # noticed: go back to the good weights
            weight.data.copy_(good_weight)
            if restore_optimizer:
                optimizer.load_state_dict(good_state)
    if weight.isnan().any():
        return "nan again after one clean step"


def reproduce(device):
    return recover(device, restore_optimizer=False)


def control(device):
    return recover(device, restore_optimizer=True)


def popular_fix(device):
    return recover(device, restore_optimizer=False, lr=1e-5)


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
