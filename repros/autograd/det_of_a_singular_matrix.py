# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradient of the determinant of a singular matrix is zero"
# kind = "silent"
# symptom = "gradient of det is \\[\\[-?0.0, -?0.0\\], \\[-?0.0, -?0.0\\]\\]"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/104675",
#     "https://github.com/pytorch/pytorch/issues/80761",
# ]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/79487",
#     "https://github.com/pytorch/pytorch/pull/171225",
# ]
# wrong = '''
# loss = torch.linalg.det(x)
# '''
# right = '''
# loss = x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0]
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The gradient is all zeros; that of the same polynomial written out is not (control).

The backward solves a system whose right-hand side is det(x) times the identity: nudging
the factorisation where its diagonal is 0 does not help, as the right-hand side is 0
(torch/csrc/autograd/FunctionsManual.cpp; pytorch#79487 leaves singular matrices for
later). Only the matrix of one element was fixed (pytorch#80761, pytorch#171225).
"""

import torch


def gradient(device, det):
    x = torch.tensor([[1.0, 2.0], [2.0, 4.0]], device=device, requires_grad=True)
    det(x).backward()
    if not x.grad.any():
        return f"gradient of det is {x.grad.tolist()}, not [[4.0, -2.0], [-2.0, 1.0]]"


def reproduce(device):
    return gradient(device, torch.linalg.det)


def control(device):
    return gradient(device, lambda x: x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0])


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
