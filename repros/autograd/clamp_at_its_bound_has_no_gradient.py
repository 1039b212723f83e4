# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "From torch 2.14 on, a value that equals a numeric bound of torch.clamp has no gradient"
# kind = "silent"
# symptom = "gradient \\[0.0, 1.0, 0.0"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/195931",
#     "https://github.com/pytorch/pytorch/issues/7002",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/191142",
#     "https://github.com/pytorch/pytorch/issues/184574",
#     "https://docs.pytorch.org/docs/stable/notes/autograd.html",
# ]
# wrong = '''
# y = x.clamp(0, 1)
# '''
# right = '''
# y = torch.where((x < 0) | (x > 1), x.clamp(0, 1), x)
# '''
# affected = { cpu = ">=2.14", cuda = ">=2.14", mps = ">=2.14" }
# ///
"""A parameter that starts at a bound of its clamp is not trained.

Before 2.14, clamp passed the gradient on at its bounds. Since 2.14, it uses the subgradient with
the smallest norm there (pytorch#191142), as the notes on autograd specify (docs: autograd
mechanics). The function hardtanh does the same (pytorch#184574). The same change applies to clip,
clamp_min and clamp_max. On 2.15, if the bound is a tensor, the gradient of a value at that bound is
halved. The gradient at NaN is 0 with clamp, and 1 with the corrected code.
"""

import torch


def gradient(device, clamp):
    x = torch.tensor([0.0, 0.5, 1.0, -1.0, 2.0], device=device, requires_grad=True)
    y = clamp(x)
    y.sum().backward()
    if y.tolist() != [0.0, 0.5, 1.0, 0.0, 1.0]:
        return f"clamp to [0, 1] of {x.tolist()} is {y.tolist()}"
    if x.grad.tolist() != [1.0, 1.0, 1.0, 0.0, 0.0]:
        return f"clamp to [0, 1] of {x.tolist()} has gradient {x.grad.tolist()}"


def clamped(x):
    y = x.clamp(0, 1)
    return y


def passing(x):
    y = torch.where((x < 0) | (x > 1), x.clamp(0, 1), x)
    return y


def reproduce(device):
    return gradient(device, clamped)


def control(device):
    return gradient(device, passing)


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
