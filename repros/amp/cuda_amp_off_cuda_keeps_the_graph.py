# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Without CUDA, autocast('cuda') and GradScaler only warn, and all parameters get gradients"
# kind = "error"
# symptom = "element 0 of tensors does not require grad"
# origin = "design"
# documents = [
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/autocast_mode.py",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/amp/grad_scaler.py",
# ]
# wrong = '''
# with torch.autocast("cuda"):
#     loss = model(torch.ones(2, 4)).sum()
# torch.cuda.amp.GradScaler().scale(loss).backward()
# '''
# fix = "amp.choose_precision"
# affected = { cpu = "never", mps = "never" }
# retired = "it shows that a failure does not occur, and nobody has reported this failure; amp/default_scaler_is_off shows the failure that does occur"
# ///
"""A negative control: on a machine without CUDA, code that was written for CUDA warns but raises no
error. All parameters get their gradients.

Without CUDA, autocast("cuda") and GradScaler warn and disable themselves
(torch/amp/autocast_mode.py, torch/amp/grad_scaler.py). Parameters on MPS have not been measured.
"""

import warnings

import torch


def train(device, enabled):
    model = torch.nn.Linear(4, 1).to(device)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaler = torch.cuda.amp.GradScaler(enabled=enabled)
        with torch.autocast("cuda", enabled=enabled):
            loss = model(torch.ones(2, 4, device=device)).sum()
    try:
        scaler.scale(loss).backward()
    except RuntimeError as error:
        return str(error)
    if any(parameter.grad is None for parameter in model.parameters()):
        return "parameters without a gradient"


def reproduce(device):
    return train(device, enabled=True)


def control(device):
    return train(device, enabled=False)


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
