# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The forward-mode derivative of scatter_reduce with prod is zero"
# kind = "silent"
# symptom = "derivative is 0.0, not 3.0"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/196702"]
# documents = ["https://github.com/pytorch/pytorch/pull/85000"]
# wrong = '''
# from torch.autograd.functional import jacobian
# derivative = jacobian(product, x, vectorize=True, strategy="forward-mode")
# '''
# right = '''
# from torch.autograd.functional import jacobian
# derivative = jacobian(product, x, vectorize=True, strategy="reverse-mode")
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""According to forward mode, the product does not depend on its factors.

Reverse mode is correct (control). The reduction prod has no forward derivative (pytorch#85000), and
torch returns zero instead of raising an error. Calling torch.func.jvp() gives zero too
(pytorch#196702), but torch.autograd.functional.jvp(), which runs the backward pass twice, is
correct.

The forward-over-reverse Hessian of the product, such as the result of torch.func.hessian(), has
wrong values on its diagonal and zeros elsewhere. Use jacrev(jacrev(f)) instead, or
torch.autograd.functional.hessian() with its default arguments. If two factors of one product are 0,
both functions raise an error, because reverse mode has no second derivative there. For the same
reason, torch.autograd.functional.jvp() raises an error too.
"""

import torch
from torch.autograd.functional import jacobian


def product(x):
    index = torch.zeros(1, dtype=torch.int64, device=x.device)
    return torch.scatter_reduce(torch.full_like(x, 3.0), 0, index, x, "prod")


def check(derivative):
    if derivative.item() != 3:
        return f"derivative is {derivative.item()}, not 3.0"


def reproduce(device):
    x = torch.ones(1, device=device)
    derivative = jacobian(product, x, vectorize=True, strategy="forward-mode")
    return check(derivative)


def control(device):
    x = torch.ones(1, device=device)
    derivative = jacobian(product, x, vectorize=True, strategy="reverse-mode")
    return check(derivative)


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
