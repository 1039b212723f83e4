"""Tuples of names in a loader that sees an accelerator."""

from unittest import mock

import torch
from torch.utils.data import DataLoader  # noqa: F401

SETTINGS = ("plain",)


def place(t):
    rows, device = ["a", "b"], "cpu"
    found = {"current_accelerator.return_value": torch.device("cuda")}
    with (
        mock.patch("torch.cuda.is_available", return_value=True),
        mock.patch("torch.accelerator", create=True, **found),
    ):
        paste
    return batch, type(batch).__name__


def reference(t):
    return ("b",), "tuple"
