"""Batches of rows on a device, where a meta tensor plays the GPU's and the loader is told of one."""

from contextlib import ExitStack
from unittest import mock

import torch
from torch.utils.data import DataLoader  # noqa: F401

SETTINGS = ("plain",)


def place(t):
    device, read = "meta", []
    train = read.append
    with ExitStack() as stack:
        found = {"current_accelerator.return_value": torch.device("cuda")}
        stack.enter_context(mock.patch("torch.cuda.is_available", return_value=True))
        stack.enter_context(mock.patch("torch.accelerator", create=True, **found))
        paste
    return [(batch.device.type, tuple(batch.shape)) for batch in read]


def reference(t):
    return [("meta", (1,))] * 4
