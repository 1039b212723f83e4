"""Datasets of many sizes, split for training and validation: each row is in one of the parts."""

import torch
from torch.utils.data import DataLoader, random_split  # noqa: F401

SETTINGS = ("plain", "short last batch")


def split(dataset):
    paste
    return train_set, validation_set


def place(t):
    seen = []
    for rows in (5, 7, 385, sum(len(x) for x, _ in t.batches)):
        parts = split(range(rows))
        numbers = [torch.cat(list(DataLoader(part, 4))).tolist() for part in parts]
        seen.append(([len(part) for part in parts], sorted(numbers[0] + numbers[1])))
    return seen


def reference(t):
    sizes = {5: [4, 1], 7: [6, 1], 385: [308, 77], 20: [16, 4], 19: [16, 3]}
    rows = 16 + t.setting.last_batch
    return [(sizes[n], list(range(n))) for n in (5, 7, 385, rows)]
