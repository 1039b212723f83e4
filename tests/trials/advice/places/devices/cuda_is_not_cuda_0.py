"""A loop that moves a batch only if necessary: on the CPU, and on two simulated GPUs."""

from types import SimpleNamespace
from unittest.mock import patch

import torch

SETTINGS = ("plain",)


def compare(x, gpu):
    paste
    return same


def make(*size, device):
    return SimpleNamespace(device=torch.device("cuda:0" if str(device) == "cuda" else device))


def place(t):
    found = []
    for x in (t.batches[0][0], t.batches[0][0].to("meta")):
        for gpu in ("cpu:0", "cpu", torch.device("cpu"), "meta"):
            found.append(compare(x, gpu))
    with patch("torch.empty", make):
        for index in (0, 1):
            x = SimpleNamespace(device=torch.device("cuda", index))
            found += [compare(x, gpu) for gpu in ("cuda", "cuda:0", "cuda:1")]
    return found


def reference(t):
    on_cpu, on_meta = [True, True, True, False], [False, False, False, True]
    return on_cpu + on_meta + [True, True, False] + [False, False, True]
