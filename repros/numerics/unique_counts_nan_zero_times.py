# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "unique(return_counts=True) reports that a NaN in the tensor occurs zero times"
# kind = "silent"
# symptom = "counts of 3 elements add up to 2"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/94106"]
# documents = [
#     "https://github.com/pytorch/pytorch/pull/94886",
#     "https://github.com/pytorch/pytorch/pull/107846",
#     "https://github.com/pytorch/pytorch/pull/113420",
# ]
# fixed_by = "pytorch#113420"
# wrong = '''
# values, counts = torch.unique(x, return_counts=True)
# '''
# fix = "upgrade"
# affected = { cpu = "<2.2" }
# ///
"""The values that unique() returns include each NaN, but the count of each NaN is 0.

The kernel looked the counts up in a hash map, where a NaN is never found because it is not equal to
itself (pytorch#94886). The sorting kernel counts NaN correctly (pytorch#107846, reverted before 2.2
and restored as pytorch#113420). Each NaN is still a separate value with a count of 1, whereas
numpy.unique() merges all NaN values.

The indices of return_inverse were wrong too: in a tensor of 3, NaN and 1, the NaN got the index 0,
which belongs to another value. With dim=0 the counts were right.
"""

import torch


def count(device, last):
    x = torch.tensor([1.0, 1.0, last], device=device)
    _, counts = torch.unique(x, return_counts=True)
    if counts.sum() != 3:
        return f"counts of 3 elements add up to {counts.sum()}"


def reproduce(device):
    return count(device, float("nan"))


def control(device):
    return count(device, 2.0)


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
