# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Large but finite gradients make clip_grad_norm_() zero the whole step"
# kind = "silent"
# symptom = "norm inf, every clipped gradient 0"
# origin = "design"
# reports = ["https://github.com/pytorch/pytorch/issues/46849"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html",
#     "https://github.com/pytorch/pytorch/pull/53843",
#     "https://github.com/pytorch/pytorch/pull/55169",
#     "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/nn/utils/clip_grad.py",
# ]
# wrong = '''
# torch.nn.utils.clip_grad_norm_([weight], 1.0)  # gradients of 1e20
# '''
# right = '''
# clip_or_skip(optimizer, max_norm=1.0)
# '''
# fix = "numerics.clip_or_skip"
# affected = { cpu = ">=1.13", cuda = ">=1.13", mps = ">=1.13" }
# retired = "the norm is inf and the factor is 0, as in numerics/clip_spreads_one_inf, which covers both overflowing and infinite gradients"
# ///
"""The loss and the gradients are finite, but after clip_grad_norm_() every gradient is 0 and the
step does nothing.

The square of 1e20 overflows in float32, so the norm is inf and the coefficient max_norm / (norm +
1e-6) is 0 (torch/nn/utils/clip_grad.py). With error_if_nonfinite=True an error is raised. This
setting became the default, but that change was reverted (pytorch#53843, pytorch#55169).
"""

import torch


def clip(device, size):
    weight = torch.zeros(100, device=device, requires_grad=True)
    loss = (weight * size).sum()
    loss.backward()
    finite = loss.isfinite() and weight.grad.isfinite().all()
    norm = torch.nn.utils.clip_grad_norm_([weight], 1.0)
    if finite and not weight.grad.any():
        return f"norm {norm.item()}, every clipped gradient 0"


def reproduce(device):
    return clip(device, size=1e20)


def control(device):
    return clip(device, size=1e10)


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
