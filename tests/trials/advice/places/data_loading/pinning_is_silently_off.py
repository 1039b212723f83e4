"""Batches of a loader: what they hold, whether they are pinned, and whether the log says so."""

import contextlib
import io

import torch
from torch.utils.data import DataLoader  # noqa: F401

SETTINGS = ("plain",)


def place(t):
    dataset, device, log = torch.arange(3), "cpu", io.StringIO()
    with contextlib.redirect_stdout(log):
        paste
    batches = list(loader)
    told = log.getvalue() != "" or {batch.is_pinned() for batch in batches} == {True}
    return batches, {batch.is_pinned() for batch in batches} == {loader.pin_memory}, told


def reference(t):
    return list(torch.arange(3).split(1)), True, True
