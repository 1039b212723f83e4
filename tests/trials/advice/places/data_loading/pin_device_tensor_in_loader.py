"""Batches of rows on a GPU, which a meta tensor and a loader with a fake device stand for."""

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
