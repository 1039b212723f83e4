# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Large finite gradients make clip_grad_norm_ zero the whole step"
# kind = "silent"
# symptom = "norm inf, every clipped gradient 0"
# keywords = ["loss stays constant although gradients are large", "step is skipped silently"]
# origin = "usage"
# reports = ["https://github.com/pytorch/pytorch/issues/46849"]
# documents = ["https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html"]
# wrong = '''
# TODO
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# ///
"""Elements above 1.8e19 square to inf in float32, so the norm overflows although every
gradient is finite; the coefficient is 0.

Nothing is NaN, so isnan() and isfinite() on loss and gradients pass, and the step is
lost without a trace.
"""

import torch


def clip(device, size):
    weight = torch.zeros(100, device=device, requires_grad=True)
    weight.grad = torch.full((100,), size, device=device)
    assert weight.grad.isfinite().all()
    norm = torch.nn.utils.clip_grad_norm_([weight], 1.0)
    if not weight.grad.any():
        return f"norm {norm.item()}, every clipped gradient 0"


def reproduce(device):
    return clip(device, 1e20)


def control(device):
    return clip(device, 1e10)


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
