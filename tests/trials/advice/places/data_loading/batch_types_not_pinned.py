"""A dataclass as the batch, also frozen, in a loader that is told of an accelerator."""

from dataclasses import dataclass
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


def frozen():
    kept = {"pin_memory": Batch.pin_memory} if hasattr(Batch, "pin_memory") else {}
    return dataclass(frozen=True)(type("Batch", (), {"__annotations__": {"x": Marked}, **kept}))


def place(t):
    return pinned(Batch), pinned(frozen())


def pinned(kind):
    def collate(rows):
        return kind(torch.stack(rows).as_subclass(Marked))

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
    return ([("Batch", [0, 1], True), ("Batch", [2, 3], True)],) * 2
