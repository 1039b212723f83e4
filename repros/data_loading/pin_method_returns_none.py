# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "A custom batch whose pin_memory() returns nothing becomes None"
# kind = "silent"
# symptom = "batch became None"
# origin = "usage"
# documents = [
#     "https://github.com/isl-org/Open3D-ML/pull/242",
#     "https://docs.pytorch.org/docs/stable/data.html#memory-pinning",
# ]
# wrong = '''
# def pin_memory(self):
#     self.x = self.x.pin_memory()
# '''
# right = '''
# def pin_memory(self):
#     self.x = self.x.pin_memory()
#     return self
# '''
# affected = { cpu = ">=1.13", cuda = ">=1.13" }
# stand_in = { cpu = "a loader that is told that an accelerator exists, with an object that only records that it was pinned" }
# ///
"""The loader replaces the batch with the return value of its pin_memory()
(torch/utils/data/_utils/pin_memory.py). If the method pins in place but lacks `return self`, the
batch therefore becomes None, as in Open3D-ML (isl-org/Open3D-ML#242).
"""

from unittest import mock

import torch
from torch.utils.data import DataLoader


class Counted:
    pinned = False

    def pin_memory(self):
        self.pinned = True
        return self

    def is_pinned(self):
        return self.pinned


class Batch:
    def __init__(self, x):
        self.x = x

    def pin_memory(self):
        self.x = self.x.pin_memory()


class ReturnedBatch(Batch):
    def pin_memory(self):
        self.x = self.x.pin_memory()
        return self


def load(device, kind):
    torch.ones(1, device=device)  # raises where there is no such device
    batch = kind(Counted() if device == "cpu" else torch.ones(1))
    loader = DataLoader([batch], batch_size=None, pin_memory=True)
    if device == "cpu":
        # a loader pins only where it finds an accelerator: the stand-in tells it of one
        with (
            mock.patch("torch.cuda.is_available", return_value=True),
            mock.patch("torch.accelerator", create=True),
        ):
            (seen,) = loader
    else:
        (seen,) = loader
    if seen is None:
        return "the batch became None"
    if seen is not batch or not seen.x.is_pinned():
        return f"{seen} instead of the batch, pinned"


def reproduce(device):
    return load(device, Batch)


def control(device):
    return load(device, ReturnedBatch)


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
