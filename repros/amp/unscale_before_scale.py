# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A GradScaler('cpu') meant as a disabled scaler crashes the first optimizer step"
# kind = "error"
# symptom = "Attempted unscale_ but _scale is None"
# messages = ["Attempted unscale_ but _scale is None"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/109993", "https://github.com/pytorch/pytorch/issues/99301"]
# wrong = '''
# TODO
# '''
# fix = "amp.make_grad_scaler"
# requires = ">=2.3"
# affected = { cpu = ">=2.3", cuda = ">=2.3", mps = ">=2.3" }
# ///
"""torch.amp.GradScaler("cpu") is taken for a scaler that is off. Since torch 2.3 it is
an enabled one, with a scale of 65536.

A loop that asks scaler.is_enabled() before it unscales, but scales the loss only on
CUDA, unscales gradients that no scale() ever saw (torch/amp/grad_scaler.py). Only
enabled=False makes a scaler that is off.
"""

import torch


def step(device, **options):
    scaler = torch.amp.GradScaler(device, **options)
    weight = torch.ones(2, device=device, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    weight.sum().backward()
    try:
        if scaler.is_enabled():
            scaler.unscale_(optimizer)
    except AssertionError as error:
        return str(error)


def reproduce(device):
    return step(device)


def control(device):
    return step(device, enabled=False)


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
