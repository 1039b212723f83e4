"""A run and its restart, which draws more before the split: what was trained on and validated on."""

import torch
from torch.utils.data import random_split  # noqa: F401

SETTINGS = ("plain",)


def place(t):
    rows, runs = range(100), []
    for draws in (1, 2):
        torch.rand(draws)
        paste
        runs.append((set(train.indices), set(val.indices)))
    (trained, held), (_, validated) = runs
    at_an_end = held in (set(range(20)), set(range(80, 100)))
    return trained & validated, len(trained | held), at_an_end, torch.rand(1)


def reference(t):
    torch.rand(1), torch.rand(2)
    return set(), 100, False, torch.rand(1)  # the program draws on as if there were no split
