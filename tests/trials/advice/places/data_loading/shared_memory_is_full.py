"""Batches of 8 MB under a file size limit of 1 MB."""

import resource
import signal

import torch
from torch.utils.data import DataLoader  # noqa: F401

SETTINGS = ("plain",)


def place(t):
    rows = torch.zeros(40, 2**17)
    rows[:, 0] = torch.arange(40)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    default = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**20, limit[1]))
    try:
        paste
        return [batch[:, 0].clone() for batch in loader]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, default)


def reference(t):
    return list(torch.arange(40.0).split(16))
