# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradient of elu at NaN is NaN or 1 depending on the element's position"
# kind = "silent"
# symptom = "gradient is nan at the first NaN, 1.0 at the last"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/195075"]
# documents = ["https://github.com/pytorch/pytorch/pull/195204"]
# wrong = '''
# y = torch.nn.functional.elu(x)
# '''
# right = '''
# missing = x.isnan()
# y = torch.where(missing, x, torch.nn.functional.elu(x.masked_fill(missing, 0)))
# '''
# affected = { cpu = ">=1.13" }
# ///
"""The elements of a tensor of NaNs get two different gradients, so some NaNs look like healthy
values.

The kernel processes whole vectors of elements, here the first 64, and the rest one by one. The two
code paths test the sign differently for NaN (pytorch#195075). The same applies to celu, selu,
hardtanh, relu6, hardswish, hardshrink, softshrink, and torch.special.logit with eps. The output is
NaN at every position (except that softshrink returns 0 in torch 2.3 and earlier). Check the output
for NaN, or pass NaNs through unchanged, so that the gradient at each NaN is the gradient of the
output (control). That gradient is finite, so checking the gradients for NaN finds none of these
elements.
"""

import torch


def start(device):
    return torch.full((65,), float("nan"), device=device, requires_grad=True)


def check(x, y):
    y.sum().backward()
    first, last = x.grad[0].item(), x.grad[-1].item()
    if not abs(first - last) < 0.1:
        return f"gradient is {first} at the first NaN, {last} at the last"
    if not y.isnan().all():
        return "the output hides a NaN"


def reproduce(device):
    x = start(device)
    y = torch.nn.functional.elu(x)
    return check(x, y)


def control(device):
    x = start(device)
    missing = x.isnan()
    y = torch.where(missing, x, torch.nn.functional.elu(x.masked_fill(missing, 0)))
    return check(x, y)


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
