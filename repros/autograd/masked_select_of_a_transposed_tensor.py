# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "masked_select on the CPU sends gradients to the wrong elements of a transposed tensor"
# kind = "silent"
# symptom = "gradient \\[\\[0.0, 2.0\\], \\[1.0, 3.0\\]\\], not \\[\\[0.0, 1.0\\], \\[2.0, 3.0\\]\\]"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/99638"]
# fixed_by = "pytorch#100232"
# wrong = '''
# y = torch.masked_select(x, mask)
# '''
# right = '''
# rows, kept = torch.broadcast_tensors(x, mask)
# y = rows[kept]
# '''
# fix = "upgrade"
# affected = { cpu = "<2.1" }
# ///
"""The selected elements get each other's gradients, whereas indexing works correctly (control).
Elements that the mask excludes keep a gradient of 0. Contiguous, expanded and strided tensors get
correct gradients.

The backward pass scatters the gradients into a tensor of zeros with the input's strides. On the
CPU, masked_scatter_() traversed this tensor in memory order instead of index order
(aten/src/ATen/native/TensorAdvancedIndexing.cpp, pytorch#100232).
"""

import torch


def start(device):
    x = torch.zeros(2, 2, device=device).t().requires_grad_()
    return x, torch.ones(2, 1, dtype=torch.bool, device=device)


def check(x, y):
    (y * torch.arange(4.0, device=x.device)).sum().backward()
    if x.grad.flatten().tolist() != [0, 1, 2, 3]:
        return f"gradient {x.grad.tolist()}, not [[0.0, 1.0], [2.0, 3.0]]"


def reproduce(device):
    x, mask = start(device)
    y = torch.masked_select(x, mask)
    return check(x, y)


def control(device):
    x, mask = start(device)
    rows, kept = torch.broadcast_tensors(x, mask)
    y = rows[kept]
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
