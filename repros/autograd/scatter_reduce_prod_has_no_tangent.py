# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The forward-mode derivative of scatter_reduce with prod is zero"
# kind = "silent"
# symptom = "derivative is 0.0, not 3.0"
# keywords = ["jvp of scatter_reduce is zero"]
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/196702"]
# documents = ["https://github.com/pytorch/pytorch/pull/85000"]
# wrong = '''
# with forward_ad.dual_level():
#     y = product(forward_ad.make_dual(x, torch.ones_like(x)))
#     derivative = forward_ad.unpack_dual(y).tangent
# '''
# right = '''
# derivative = torch.autograd.grad(product(x.requires_grad_()), x)[0]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""Forward mode says that the product does not depend on its factors.

Reverse mode is right (control). No forward derivative was written for prod
(pytorch#85000), and a zero is returned instead of an error.
"""

import torch
from torch.autograd import forward_ad


def product(x):
    index = torch.zeros(1, dtype=torch.int64, device=x.device)
    factor = torch.full_like(x, 3.0)
    return torch.scatter_reduce(factor, 0, index, x, "prod")


def forward_mode(x):
    with forward_ad.dual_level():
        y = product(forward_ad.make_dual(x, torch.ones_like(x)))
        return forward_ad.unpack_dual(y).tangent


def reverse_mode(x):
    return torch.autograd.grad(product(x.requires_grad_()), x)[0]


def differentiate(device, mode):
    derivative = mode(torch.ones(1, device=device))
    derivative = 0.0 if derivative is None else derivative.item()
    if derivative != 3:
        return f"derivative is {derivative}, not 3.0"


def reproduce(device):
    return differentiate(device, forward_mode)


def control(device):
    return differentiate(device, reverse_mode)


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
