"""Batches of a loader: what they hold, and whether they are pinned where it says so."""

import contextlib
import io

import torch
from torch.utils.data import DataLoader  # noqa: F401

SETTINGS = ("plain",)


def place(t):
    dataset, device = torch.arange(3), "cpu"
    with contextlib.redirect_stdout(io.StringIO()):
        paste
    batches = list(loader)
    return batches, {batch.is_pinned() for batch in batches} == {loader.pin_memory}


def reference(t):
    return list(torch.arange(3).split(1)), True
