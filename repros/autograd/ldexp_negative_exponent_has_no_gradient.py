# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "torch.ldexp with a negative integer exponent has gradient 0"
# kind = "silent"
# symptom = "ldexp\\(1, -1\\) is 0.5, its gradient 0.0"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/186556",
#     "https://github.com/pytorch/pytorch/issues/187460",
#     "https://github.com/pytorch/pytorch/issues/196680",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/168357"]
# fixed_by = "pytorch#186566"
# wrong = '''
# y = torch.ldexp(x, exponent)  # of integers
# '''
# right = '''
# y = torch.ldexp(x.double(), exponent.double()).to(x.dtype)
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.11,<2.14", cuda = ">=2.11,<2.14" }
# ///
"""The value is correct, but its gradient is 0. In float64, both are correct (control). Converting
the exponent to x's dtype avoids the zero too. In float16, however, it gives wrong values, because 2
** -25 is 0 and 2 ** 17 is infinite.

pytorch#168357 gave ldexp its own kernel and its own derivative. The derivative multiplies by pow(2,
e), which is an integer power for an integer e, so 2 ** -1 is truncated to 0
(tools/autograd/derivatives.yaml, pytorch#186566).
"""

import torch


def start(device):
    x = torch.ones(1, device=device, requires_grad=True)
    return x, torch.tensor([-1], device=device)


def check(x, y):
    y.backward()
    if abs(x.grad.item() - 0.5) > 0.1:
        return f"ldexp(1, -1) is {y.item()}, its gradient {x.grad.item()}"


def reproduce(device):
    x, exponent = start(device)
    y = torch.ldexp(x, exponent)
    return check(x, y)


def control(device):
    x, exponent = start(device)
    y = torch.ldexp(x.double(), exponent.double()).to(x.dtype)
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
