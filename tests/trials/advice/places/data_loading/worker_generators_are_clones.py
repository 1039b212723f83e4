"""Noise from a dataset as it is, in a part of it and in two joined: how many draws differ.

Without workers it is the same in each start with one seed.
"""

import random

import torch
from torch.utils.data import ConcatDataset, DataLoader, Dataset, Subset

SETTINGS = ("plain", "workers")


class Augmented(Dataset):
    def __init__(self, rows):
        self.rows, self.generator = rows, random.Random(0)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index] + self.generator.random()


def start(rows):
    paste
    return loader


def place(t):
    loader = start([0.0] * 12)
    counts = []
    for dataset in (
        loader.dataset,
        Subset(loader.dataset, range(0, 12, 2)),
        ConcatDataset([loader.dataset] * 2),
    ):
        workers = DataLoader(
            dataset, num_workers=t.setting.workers, worker_init_fn=loader.worker_init_fn
        )
        workers.collate_fn = lambda batch: batch[0]
        epochs = [draw for _ in range(2) for draw in workers]
        counts.append(len(set(epochs)))
    beside = DataLoader(
        WithNoise(loader.dataset), num_workers=2, worker_init_fn=loader.worker_init_fn
    )
    pairs = list(beside)
    starts = []
    for _ in range(2):
        torch.manual_seed(7)
        dataset = start([0.0] * 12).dataset
        starts.append([dataset[index] for index in range(12)])
    return counts, sum(bool(noise == other) for noise, other in pairs), starts[0] == starts[1]


class WithNoise(Dataset):
    """Beside each row, a draw of the worker's own `random`."""

    def __init__(self, rows):
        self.rows = rows

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return self.rows[index], random.random()


def reference(t):
    return [24, 12, 48], 0, True
