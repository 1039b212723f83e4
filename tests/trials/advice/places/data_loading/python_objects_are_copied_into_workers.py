"""A million numbers that a worker reads: their sum, and whether reading them costs it memory."""

import torch  # noqa: F401
from torch.utils.data import DataLoader, Dataset

SETTINGS = ("plain",)


def private_mb():
    with open("/proc/self/smaps_rollup") as rollup:
        (line,) = (line for line in rollup if line.startswith("Private_Dirty:"))
    return int(line.split()[1]) / 1024


class Rows(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return 2

    def __getitem__(self, index):
        before = private_mb()
        total = sum(float(self.rows[at]) for at in range(index, len(self.rows), 100))
        if isinstance(self.rows, list):
            max(self.rows)
        return total, private_mb() - before < 15


def place(t):
    paste
    batches = list(DataLoader(Rows(rows), num_workers=1, multiprocessing_context="fork"))
    return [total.item() for total, _ in batches], all(small for _, small in batches)


def reference(t):
    return [float(sum(range(index, 1_000_000, 100))) for index in range(2)], True
