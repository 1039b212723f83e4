# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "gather() of a float32 tensor along dim 0 with an index of shape (n, 1) returns wrong elements"
# kind = "silent"
# symptom = "gathered \\[1\\.0, 2\\.0, 2\\.0\\], not \\[4\\.0, 8\\.0, 8\\.0\\]"
# origin = "torch"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/99595",
#     "https://github.com/pytorch/pytorch/issues/105794",
# ]
# documents = ["https://github.com/pytorch/pytorch/pull/99709"]
# fixed_by = "pytorch#99709"
# wrong = '''
# picked = x.gather(0, index)  # an index of shape (n, 1)
# '''
# right = '''
# picked = x.gather(0, index.t().clone(memory_format=torch.contiguous_format).t())
# '''
# fix = "upgrade"
# affected = { cpu = ">=2.0,<2.1" }
# ///
"""Instead of x[i, 0], gather() reads x[0, i]. If the same index is a transposed view, gather()
returns the right elements (control; pytorch#105794).

An index of shape (n, 1) was mistaken for an index that is expanded along its last dimension
(pytorch#99709). For this reason, gather() used the fast path for expanded indices. This path was
new in 2.0 and exists only in builds with OpenMP (can_use_expanded_index_path() in
aten/src/ATen/native/TensorAdvancedIndexing.h, aten/src/ATen/native/cpu/radix_sort.h).
"""

import torch


def check(picked):
    seen = picked.flatten().tolist()
    if seen != [4.0, 8.0, 8.0]:  # x[1, 0], x[2, 0], x[2, 0]
        return f"gathered {seen}, not [4.0, 8.0, 8.0]"


def start(device):
    x = torch.arange(12.0, device=device).reshape(3, 4)
    return x, torch.tensor([[1], [2], [2]], device=device)


def reproduce(device):
    x, index = start(device)
    picked = x.gather(0, index)  # an index of shape (n, 1)
    return check(picked)


def control(device):
    x, index = start(device)
    picked = x.gather(0, index.t().clone(memory_format=torch.contiguous_format).t())
    return check(picked)


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
