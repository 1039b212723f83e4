# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A custom batch whose pin_memory() returns nothing becomes None"
# kind = "silent"
# symptom = "batch became None"
# keywords = [
#     "DataLoader returns None",
#     "batch is None when pin_memory is switched on",
#     "works with pin_memory=False, batch is None otherwise",
#     "my custom batch disappears in the dataloader",
#     "for batch in loader gives only None",
#     "collate_fn returns a batch and the loop gets None",
#     "own pin_memory method and the batch is empty",
#     "NoneType batch only on the machine with a GPU",
#     "custom batch class with pin_memory gives nothing",
#     "everything fine on cpu, None batches with cuda",
#     "loader yields None instead of my point cloud batch",
# ]
# origin = "usage"
# documents = [
#     "https://github.com/isl-org/Open3D-ML/pull/242",
#     "https://docs.pytorch.org/docs/stable/data.html#memory-pinning",
# ]
# wrong = '''
# def pin_memory(self):
#     ...  # self.x is pinned in place
# '''
# right = '''
# def pin_memory(self):
#     ...
#     return self
# '''
# fix = "data_loading.Prefetcher"
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# stand_in = { cpu = "a loader that is told of an accelerator, over a batch that holds no tensor" }
# ///
"""The loader replaces the batch by whatever its pin_memory() returns
(torch/utils/data/_utils/pin_memory.py); one that pins in place and forgets `return
self` erases it, as Open3D-ML's did (isl-org/Open3D-ML#242).
"""

from unittest import mock

import torch
from torch.utils.data import DataLoader


class Batch:
    def pin_memory(self):
        pass


class ReturnedBatch:
    def pin_memory(self):
        return self


def first_batch(device, rows, **options):
    torch.ones(1, device=device)  # raises where there is no such device
    loader = DataLoader(rows, batch_size=None, **options)
    if device != "cpu":
        return next(iter(loader))
    # a loader pins only where it finds an accelerator: the stand-in tells it of one
    with (
        mock.patch("torch.cuda.is_available", return_value=True),
        mock.patch("torch.accelerator", create=True),
    ):
        return next(iter(loader))


def load(device, batch):
    if first_batch(device, [batch], pin_memory=True) is None:
        return "the batch became None"


def reproduce(device):
    return load(device, Batch())


def control(device):
    return load(device, ReturnedBatch())


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
