"""Targets of an epoch in a list, in a process that may open 64 files."""

import resource

import torch
from torch.utils.data import DataLoader, TensorDataset

SETTINGS = ("workers",)


def place(t):
    rows = TensorDataset(torch.arange(400.0).view(200, 2), torch.arange(200))
    loader = DataLoader(rows, num_workers=t.setting.workers)
    targets, limit = [], resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, limit[1]))
    try:
        paste
        return torch.cat(targets)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def reference(t):
    return torch.arange(200)
