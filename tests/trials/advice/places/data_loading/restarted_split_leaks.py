"""A run and its restart, which draws more before the split: what was trained on and validated on."""

import torch
from torch.utils.data import random_split  # noqa: F401

SETTINGS = ("plain",)


def place(t):
    rows, runs = range(100), []
    with torch.random.fork_rng(devices=[]):
        for draws in (1, 2):
            torch.rand(draws)
            paste
            runs.append((set(train.indices), set(val.indices)))
    drawn = torch.rand(1)  # the generator of the program goes on as if there were no split
    (trained, held), (_, validated) = runs
    return trained & validated, len(trained | held), [min(held) > 0, max(held) < 99], drawn


def same(seen, expected):
    overlap, rows, _, _ = seen
    return f"{overlap} of {rows} rows" if (overlap, rows) != expected[:2] else None


def reference(t):
    return set(), 100
