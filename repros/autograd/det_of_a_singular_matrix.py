# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradient of det() is zero if the LU factorization has an exact zero on its diagonal"
# kind = "silent"
# symptom = "gradient of det is \\[\\[-?0.0, -?0.0\\], \\[-?0.0, -?0.0\\]\\], not \\[\\[4"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/104675"]
# documents = [
#     "https://github.com/pytorch/pytorch/issues/80761",
#     "https://github.com/pytorch/pytorch/pull/79487",
#     "https://github.com/pytorch/pytorch/pull/171225",
# ]
# wrong = '''
# gradient = torch.autograd.grad(torch.linalg.det(x), x)[0]
# '''
# right = '''
# gradient = torch.autograd.grad(torch.linalg.det(x), x, create_graph=True)[0].detach()
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# ///
"""The gradient is all zeros, but it is correct with create_graph=True (control). With backward(),
the same option helps too, but leaves a graph in x.grad. Without the option, other singular
matrices, whose factorization ends in a tiny number instead of 0, get the correct gradient up to
rounding. The failure occurs with a row of zeros, and often with repeated rows and small whole
numbers. If the rank is at least two below the size of the matrix, the true gradient is 0. For det(v
@ v.T), it is also 0 if the rows of v are linearly dependent.

torch has two formulas for this gradient. Without create_graph, torch perturbs the factorization
where its diagonal is 0, in order to solve a linear system. However, the right-hand side of the
system is det(x) times the identity, which is 0 (torch/csrc/autograd/FunctionsManual.cpp). A fix for
singular matrices was postponed (pytorch#79487). Only one-element matrices have been fixed
(pytorch#80761, pytorch#171225).
"""

import torch


def start(device):
    return torch.tensor([[1.0, 2.0], [2.0, 4.0]], device=device, requires_grad=True)


def check(gradient):
    if (gradient.cpu() - torch.tensor([[4, -2], [-2, 1]])).abs().max() > 0.1:
        return f"gradient of det is {gradient.tolist()}, not [[4.0, -2.0], [-2.0, 1.0]]"
    if gradient.requires_grad:
        return "the gradient has a graph"


def reproduce(device):
    x = start(device)
    gradient = torch.autograd.grad(torch.linalg.det(x), x)[0]
    return check(gradient)


def control(device):
    x = start(device)
    gradient = torch.autograd.grad(torch.linalg.det(x), x, create_graph=True)[0].detach()
    return check(gradient)


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
