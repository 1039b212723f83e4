# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradient of a Euclidean distance is NaN where the distance is zero"
# kind = "silent"
# symptom = "loss 0 is finite, gradient nan"
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/68425", "https://github.com/pytorch/pytorch/issues/52248"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.apply_where"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""d sqrt(u)/du is inf at 0 and du/dx is 0 there: inf * 0 is NaN. One pair of equal rows
is enough.

Clipping keeps the NaN. vector_norm() defines the gradient at 0 as 0.
"""

import torch


def gradient(device, distance, clip=False):
    x = torch.zeros(3, device=device, requires_grad=True)
    loss = distance(x)
    loss.backward()
    if clip:
        torch.nn.utils.clip_grad_norm_([x], 1.0)
    if loss.isfinite() and x.grad.isnan().all():
        return f"loss {loss.item():g} is finite, gradient nan"


def naive(x):
    return x.square().sum().sqrt()


def reproduce(device):
    return gradient(device, naive)


def control(device):
    return gradient(device, torch.linalg.vector_norm)


def popular_fix(device):
    return gradient(device, naive, clip=True)


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
