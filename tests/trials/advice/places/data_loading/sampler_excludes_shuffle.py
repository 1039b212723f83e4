"""Loaders with a sampler of their own and without one: which rows they give, and in what order."""

import torch
from torch.utils.data import BatchSampler, DataLoader, SubsetRandomSampler  # noqa: F401

SETTINGS = ("plain",)


def place(t):
    rows, read = range(40), []
    for sampler in (SubsetRandomSampler(range(30)), None):
        batch_sampler = BatchSampler(SubsetRandomSampler(range(30)), 2, drop_last=True)
        paste
        orders = [[int(row) for row in loader], torch.cat(list(batches)).tolist()]
        read += [(sorted(order), order == sorted(order)) for order in orders]
    return read


def reference(t):
    part, whole = (list(range(30)), False), (list(range(40)), False)
    return [part, part, whole, part]
