"""100 steps over shuffled and augmented rows: which rows each epoch has, and whether noise repeats."""

import torch
from torch.utils import data

SETTINGS = ("plain", "workers")


class Rows(data.Dataset):
    def __len__(self):
        return 100

    def __getitem__(self, index):
        return index + torch.rand(()) / 2


def place(t):
    rows, read = Rows(), []

    def DataLoader(rows, batch_size):
        options = {"num_workers": t.setting.workers, "persistent_workers": t.setting.workers > 0}
        return data.DataLoader(rows, batch_size, shuffle=True, **options)

    def train(batch):
        read.append(batch)

    paste
    epochs = [torch.cat(read[start : start + 4]) for start in range(0, 100, 4)]
    orders = [tuple(epoch.int().tolist()) for epoch in epochs]
    return [sorted(order) for order in orders], len(set(orders)), len(set(torch.cat(read).tolist()))


def reference(t):
    return [list(range(100))] * 25, 25, 2500
