"""A custom batch class in a loader that sees an accelerator."""

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


class Batch:
    def __init__(self, rows):
        self.x = torch.stack(rows).as_subclass(Marked)

    pin_memory = pin_memory


def place(t):
    loader = DataLoader(torch.arange(4), 2, collate_fn=Batch, pin_memory=True)
    with (
        mock.patch("torch.cuda.is_available", return_value=True),
        mock.patch("torch.accelerator", create=True),
        mock.patch("torch.cuda.set_device"),
        mock.patch("torch.cuda.current_device"),
    ):
        batches = list(loader)
    return [(batch.x.tolist(), batch.x.pinned) for batch in batches]


def reference(t):
    return [([0, 1], True), ([2, 3], True)]
