"""Attention over samples one by one, of batches of two and of one."""

import warnings

import torch
from torch.nn.functional import softmax

SETTINGS = ("plain", "bfloat16")
TOLERANCE = 0.02


def inputs(t):
    stacked = torch.stack([x[:3] for x, _ in t.batches[:2]])
    return [(stacked, stacked / 2), (stacked[:1], stacked[:1, :2])]


def place(t):
    found = []
    for queries, keys in inputs(t):
        with warnings.catch_warnings(), t.autocast():
            warnings.simplefilter("ignore")
            paste
        found.append(weights.float())
    return found


def reference(t):
    found = []
    for queries, keys in inputs(t):
        rows = [(one @ two.T).exp() for one, two in zip(queries, keys)]
        found.append(torch.stack([row / row.sum(1, keepdim=True) for row in rows]))
    return found
