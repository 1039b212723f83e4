# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "The gradient of torch.trace has ones below the diagonal if a matrix has at least two more rows than columns"
# kind = "silent"
# symptom = "gradient of trace has 3 ones, the diagonal 2 entries"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/171704",
#     "https://github.com/pytorch/pytorch/issues/76783",
# ]
# fixed_by = "pytorch#175068"
# wrong = '''
# loss = x.trace()
# loss.backward()
# '''
# right = '''
# loss = x.diagonal().sum()
# loss.backward()
# '''
# fix = "upgrade"
# affected = { cpu = "<2.12", cuda = "<2.12", mps = ">=2.1,<2.12" }
# ///
"""Off-diagonal elements of a tall matrix get a gradient. A wide matrix, or a matrix with only one
more row than columns, is not affected.

The backward pass fills every (columns + 1)-th element up to the end of the matrix. If the matrix
has at least two more rows than columns, some of these elements are below the end of the diagonal
(aten/src/ATen/native/TriangularOps.cpp, pytorch#175068). The gradient of x.diagonal().sum() is
correct (control).
"""

import torch


def check(x):
    ones = int((x.grad == 1).sum())
    if ones != 2:
        return f"gradient of trace has {ones} ones, the diagonal 2 entries"
    if x.grad[0, 0] != 1 or x.grad[1, 1] != 1:
        return "the ones are not on the diagonal"


def reproduce(device):
    x = torch.zeros(4, 2, device=device, requires_grad=True)
    loss = x.trace()
    loss.backward()
    return check(x)


def control(device):
    x = torch.zeros(4, 2, device=device, requires_grad=True)
    loss = x.diagonal().sum()
    loss.backward()
    return check(x)


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
