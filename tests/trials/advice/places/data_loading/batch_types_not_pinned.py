"""A dataclass as the batch, also a frozen one that scales, in a loader told of an accelerator."""

from dataclasses import dataclass
from unittest import mock

import torch
from torch.utils.data import DataLoader

SETTINGS = ("plain",)


class Marked(torch.Tensor):
    pinned = False

    def pin_memory(self, *device):
        pinned = self.clone()  # as torch's, it is another tensor
        pinned.pinned = True
        return pinned


paste


def scale(self):
    object.__setattr__(self, "x", self.x * 10)


def frozen():
    kept = {"pin_memory": Batch.pin_memory} if hasattr(Batch, "pin_memory") else {}
    body = {"__annotations__": {"x": Marked}, "__post_init__": scale, **kept}
    return dataclass(frozen=True)(type("Batch", (), body))


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
    rows = [[[0, 1], [2, 3]], [[0, 10], [20, 30]]]
    return tuple([("Batch", row, True) for row in two] for two in rows)
