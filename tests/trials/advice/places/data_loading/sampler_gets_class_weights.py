"""The classes and rows that a loader draws from a dataset of four unequal classes."""

import torch

SETTINGS = ("plain", "workers")


def place(t):
    labels = torch.tensor([0] * 200 + [1] * 100 + [2] * 60 + [3] * 40)
    labels = labels[torch.randperm(400)]
    class_weights = 1 / labels.bincount()
    paste
    rows = torch.utils.data.TensorDataset(torch.arange(400), labels)
    loader = torch.utils.data.DataLoader(
        rows, batch_size=7, sampler=sampler, num_workers=t.setting.workers
    )
    drawn, classes = (torch.cat(column) for column in zip(*loader))
    shares = [float((classes == label).sum()) / 400 for label in range(4)]
    return [shares, len(classes), len(set(drawn.tolist())) > 150]


def reference(t):
    return [[0.25, 0.25, 0.25, 0.25], 400, True]


def same(seen, expected):
    off = max(abs(a - b) for a, b in zip(seen[0], expected[0]))
    if off > 0.08 or seen[1:] != expected[1:]:
        return f"{seen} instead of {expected}"
