"""100 steps over shuffled and augmented rows: which rows each epoch has, and whether noise repeats."""

import torch
from torch.utils import data

SETTINGS = ("plain", "workers")


class Rows(data.Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return index + torch.rand(()) / 2


def loop(rows, DataLoader, train):
    paste


def place(t):
    read, with_none = [], []

    def DataLoader(rows, batch_size):
        options = {"num_workers": t.setting.workers, "persistent_workers": t.setting.workers > 0}
        return data.DataLoader(rows, batch_size, shuffle=True, **options)

    loop(Rows(), DataLoader, read.append)
    loop(None, lambda rows, batch_size: ["a", None, "b"], with_none.append)
    epochs = [torch.cat(read[start : start + 4]) for start in range(0, 100, 4)]
    orders = [tuple(epoch.int().tolist()) for epoch in epochs]
    noises = len(set(torch.cat(read).tolist()))
    return [sorted(order) for order in orders], len(set(orders)), noises, with_none


def reference(t):
    return [list(range(100))] * 25, 25, 2500, ["a", None, "b"] * 33 + ["a"]
