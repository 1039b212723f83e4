# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A dataclass batch without a pin_memory() method stays unpinned despite pin_memory=True"
# kind = "silent"
# symptom = "left the dataclass unpinned"
# origin = "design"
# reports = ["https://github.com/ai2cm/ace/issues/628"]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#memory-pinning",
#     "https://github.com/pytorch/pytorch/pull/16743",
# ]
# wrong = '''
# @dataclass
# class Batch:
#     x: torch.Tensor  # returned by collate_fn, under pin_memory=True
# '''
# right = '''
# from copy import copy
# @dataclass
# class Batch:
#     x: torch.Tensor
#     def pin_memory(self):
#         batch = copy(self)
#         object.__setattr__(batch, "x", self.x.pin_memory())  # of a frozen one too
#         return batch
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# stand_in = { cpu = "a tensor that pin_memory() only marks, in a loader that is told that an accelerator exists" }
# ///
"""The loader pins tensors, mappings, sequences, and objects that have a pin_memory() method. It
silently returns every other batch unchanged (torch/utils/data/_utils/pin_memory.py; docs:
torch.utils.data, Memory Pinning). A named tuple is pinned without a method. An instance of a plain
class stays unpinned, like the dataclass in this reproducer.

The method needs a line for each field that holds a tensor, with a check for None if the field may
be None.

Do not use dataclasses.replace() in the method. It would run __post_init__() again, which may scale
x a second time, and would drop every attribute that is not an argument of __init__().
"""

from copy import copy
from dataclasses import dataclass
from unittest import mock

import torch
from torch.utils.data import DataLoader


class StandIn(torch.Tensor):
    pinned = False

    def pin_memory(self, *device):
        self.pinned = True
        return self

    def is_pinned(self):
        return self.pinned


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


def load(device, kind):
    x = torch.ones(2)
    if device == "cpu":
        x = x.as_subclass(StandIn)
    batch = first_batch(device, [kind(x)], pin_memory=True)
    if type(batch) is not kind or not batch.x.is_pinned():
        return "the loader left the dataclass unpinned"


def reproduce(device):
    @dataclass
    class Batch:
        x: torch.Tensor

    return load(device, Batch)


def control(device):
    @dataclass
    class Batch:
        x: torch.Tensor

        def pin_memory(self):
            batch = copy(self)
            object.__setattr__(batch, "x", self.x.pin_memory())  # of a frozen one too
            return batch

    return load(device, Batch)


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
