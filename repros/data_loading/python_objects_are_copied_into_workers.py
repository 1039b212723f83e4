# /// script
# requires-python = ">=3.10"
# dependencies = ["torch"]
#
# [tool.repro]
# title = "Each forked DataLoader worker copies the dataset's Python objects as it reads them"
# kind = "leak"
# symptom = "the worker copied \\d+ MB of a list it only read"
# origin = "design"
# reports = [
#     "https://github.com/pytorch/pytorch/issues/5902",
#     "https://github.com/pytorch/pytorch/issues/13246",
#     "https://github.com/referit3d/referit3d/issues/5",
# ]
# documents = [
#     "https://docs.pytorch.org/docs/stable/data.html#multi-process-data-loading",
#     "https://man7.org/linux/man-pages/man5/proc_pid_smaps.5.html",
# ]
# wrong = '''
# rows = [float(i) for i in range(1_000_000)]
# '''
# right = '''
# rows = torch.arange(1_000_000, dtype=torch.float64)  # texts: one uint8 tensor, and their ends
# '''
# affected = { cpu = ">=1.13" }
# platform = "linux"
# ///
"""A forked worker shares its parent's memory until one of the two processes writes to it. Reading a
Python object changes its reference count, so every page that holds objects is copied, once in each
worker (docs: torch.utils.data, Multi-process data loading; pytorch#13246). During an epoch, memory
grows until everything is copied or the workers end. With persistent_workers=True and shuffle=True,
a worker reads different rows in each epoch, so memory can grow for several epochs.

A tensor's elements are not reference-counted. Store strings or records in two tensors: a uint8
tensor of all their bytes, and a tensor of the positions at which they end. Decode a row when you
read it. A NumPy array of fixed-width strings is shared as well, but an array with dtype=object is
copied like a list.

The list of a million numbers in this reproducer uses about 32 MB. Before and after reading all the
numbers, the worker measures the memory that the kernel counts as private and dirty (man7.org:
proc_pid_smaps(5)).
"""

import torch
from torch.utils.data import DataLoader, Dataset


def private_mb():
    with open("/proc/self/smaps_rollup") as rollup:
        (line,) = (line for line in rollup if line.startswith("Private_Dirty:"))
    return int(line.split()[1]) / 1024


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return 1

    def __getitem__(self, index):
        before = private_mb()
        max(self.rows) if isinstance(self.rows, list) else self.rows.max()
        return private_mb() - before


def read(rows):
    loader = DataLoader(Rows(rows), num_workers=1, multiprocessing_context="fork")
    (copied,) = loader
    if copied > 15:
        return f"the worker copied {int(copied)} MB of a list it only read"


def reproduce(device):
    rows = [float(i) for i in range(1_000_000)]
    return read(rows)


def control(device):
    rows = torch.arange(1_000_000, dtype=torch.float64)  # texts: one uint8 tensor, and their ends
    return read(rows)


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
