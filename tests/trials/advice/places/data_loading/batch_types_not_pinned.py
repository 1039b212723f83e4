"""A dataclass as the batch, in a loader that is told of an accelerator."""

from dataclasses import dataclass  # noqa: F401
from unittest import mock

import torch
from torch.utils.data import DataLoader

SETTINGS = ("plain",)


class Marked(torch.Tensor):
    pinned = False

    def pin_memory(self, *device):
        self.pinned = True
        return self


paste


def collate(rows):
    return Batch(torch.stack(rows).as_subclass(Marked))


def place(t):
    loader = DataLoader(torch.arange(4), 2, collate_fn=collate, pin_memory=True)
    with (
        mock.patch("torch.cuda.is_available", return_value=True),
        mock.patch("torch.accelerator", create=True),
        mock.patch("torch.cuda.set_device"),
        mock.patch("torch.cuda.current_device"),
    ):
        batches = list(loader)
    return [(type(batch).__name__, batch.x.tolist(), batch.x.pinned) for batch in batches]


def reference(t):
    return [("Batch", [0, 1], True), ("Batch", [2, 3], True)]
