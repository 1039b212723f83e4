# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "EmbeddingBag with include_last_offset=True drops the last row of a 2-D input"
# kind = "silent"
# symptom = "2 rows of indices give 1 bag"
# origin = "torch"
# reports = ["https://github.com/pytorch/pytorch/issues/167974"]
# documents = ["https://github.com/pytorch/pytorch/pull/168159"]
# fixed_by = "pytorch#168159"
# wrong = '''
# bag = EmbeddingBag(4, 4, mode="sum", include_last_offset=True)
# bags = bag.to(device)(indices)
# '''
# right = '''
# bag = EmbeddingBag(4, 4, mode="sum", include_last_offset=False)
# bags = bag.to(device)(indices)
# '''
# fix = "upgrade"
# affected = { cpu = "<2.10", cuda = "<2.10" }
# ///
"""A batch of two rows becomes one bag, because the last row of 2-D indices is lost.

For 2-D indices embedding_bag() computes the offsets itself. These offsets contain the start of each
row. However, they lack the end of the last row, which include_last_offset=True promises. The start
of the last row is then mistaken for the end of the input (torch/nn/functional.py, pytorch#167974,
pytorch#168159). The option is meant for 1-D indices whose offsets contain that end. If such offsets
lack the end, the last bag is lost in all releases. The corrected code helps in this case as well.
With mode="max", torch 1.13.1 also writes past the end of the allocated memory ("free(): invalid
pointer").
"""

import torch
from torch.nn import EmbeddingBag


def start(device):
    return torch.tensor([[0, 1], [2, 3]], device=device)


def check(bag, indices, bags):
    if len(bags) != len(indices):
        return f"{len(indices)} rows of indices give {len(bags)} bag"
    if not torch.allclose(bags, bag.weight[indices].sum(1)):
        return "the bags are not the sums of their rows"


def reproduce(device):
    indices = start(device)
    bag = EmbeddingBag(4, 4, mode="sum", include_last_offset=True)
    bags = bag.to(device)(indices)
    return check(bag, indices, bags)


def control(device):
    indices = start(device)
    bag = EmbeddingBag(4, 4, mode="sum", include_last_offset=False)
    bags = bag.to(device)(indices)
    return check(bag, indices, bags)


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
