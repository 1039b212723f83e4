"""Epochs over datasets of several sizes: the number of batches and rows, and the trained weight."""

import torch
from torch.utils.data import DataLoader  # noqa: F401

SIZES = {1: [1], 40: [40], 64: [64], 65: [64], 128: [64, 64], 150: [64, 64]}


def train(loader):
    weight = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    for x in loader:
        optimizer.zero_grad()
        (weight * x).mean().backward()
        optimizer.step()
    return weight.detach(), [len(x) for x in loader]


def place(t):
    seen = []
    for size in SIZES:
        rows = torch.ones(size)
        paste
        seen.append(train(loader))
    return seen


def reference(t):
    return [(torch.tensor(-float(len(sizes))), sizes) for sizes in SIZES.values()]
