"""A look at the first batch, then the rest of the epoch, with and without workers."""

import torch
from torch.utils.data import DataLoader, TensorDataset

SETTINGS = ("plain", "workers", "short last batch")


def data(t):
    return torch.cat([x for x, _ in t.batches]), torch.cat([y for _, y in t.batches])


def place(t):
    loader = DataLoader(TensorDataset(*data(t)), batch_size=4, num_workers=t.setting.workers)
    paste
    rest = [t.loss(t.model(x), y).detach() for x, y in batches]
    return [inputs, labels, rest]


def reference(t):
    x, y = data(t)
    rest = [t.loss(t.model(a), b).detach() for a, b in zip(x[4:].split(4), y[4:].split(4))]
    return [x[:4], y[:4], rest]
