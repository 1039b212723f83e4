# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.atan2 at (0, 0) makes the gradient NaN even if the result is masked out"
# kind = "silent"
# symptom = "gradient through atan2 is \\[.*nan"
# messages = ["Atan2Backward0.{1,2} returned nan values in its \\d{1,2}th output"]
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/93998",
#     "https://github.com/pytorch/pytorch/issues/98276",
#     "https://github.com/pytorch/pytorch/issues/165427",
# ]
# fixed_by = "pytorch#166787"
# wrong = '''
# loss = torch.atan2(y, x)[keep].sum()
# '''
# right = '''
# loss = torch.atan2(y[keep], x[keep]).sum()
# '''
# fix = "upgrade"
# affected = { cpu = "<2.10", cuda = "<2.10", mps = "<2.10" }
# ///
"""Zero padding makes the gradient NaN, unless the padding is masked before atan2 (control).

The backward pass divides by x * x + y * y, so it multiplies the masked element's gradient of 0 by
infinity (torch/csrc/autograd/FunctionsManual.cpp, pytorch#166787). Vectors that are so short that
their squares are 0 fail too. If there is no mask, use keep = torch.hypot(x, y) > 1e-6 (in float32).
For z = 0, the gradient of torch.angle(z) is 0, but the gradient of atan2(z.imag, z.real) is not.
For z = 1e-30 + 1e-30j, the gradient of torch.angle() is NaN too, even in 2.15.
"""

import torch


def masked_after(y, x, keep):
    loss = torch.atan2(y, x)[keep].sum()
    return loss


def masked_before(y, x, keep):
    loss = torch.atan2(y[keep], x[keep]).sum()
    return loss


def gradient(device, angles):
    x = torch.tensor([1.0, 0.0], device=device, requires_grad=True)
    y, keep = torch.tensor([2.0, 0.0], device=device), torch.tensor([True, False], device=device)
    angles(y, x, keep).backward()
    if not torch.allclose(x.grad, torch.tensor([-0.4, 0.0], device=device)):
        return f"gradient through atan2 is {x.grad.tolist()} instead of [-0.4, 0.0]"


def messages(device):
    try:
        with torch.autograd.detect_anomaly(check_nan=True):
            gradient(device, masked_after)
    except RuntimeError as error:
        return str(error)
    return ""


def reproduce(device):
    return gradient(device, masked_after)


def control(device):
    return gradient(device, masked_before)


if __name__ == "__main__":
    import sys

    device, seen = sys.argv[1] if sys.argv[1:] else "cpu", []
    try:
        for role in (reproduce, control, messages):
            seen.append(role(device))
            print(f"{role.__name__}: {seen[-1] or 'no symptom'}")
    except Exception as error:
        print(f"{role.__name__}: cannot tell: {error!r}")
        sys.exit(125)
    sys.exit(125 if seen[1] else 1 if seen[0] else 0)
