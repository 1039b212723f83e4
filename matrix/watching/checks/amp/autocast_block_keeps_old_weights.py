from __future__ import annotations

from collections import Counter
from typing import Any

import torch

from ...check import Check


class AutocastBlockKeepsOldWeights(Check):
    level = "error"
    change = "Open the autocast block in each step, around the forward pass only"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._steps: Counter[int] = Counter()  # of each optimizer, in this block

    def autocast_ended(self) -> str | None:
        self._steps.clear()
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if not _is_on() or not torch.is_autocast_cache_enabled():
            return None
        self._steps[id(optimizer)] += 1
        if self._steps[id(optimizer)] == 2:
            return (
                "this is the second step in one autocast block, which caches casts of the old "
                "weights"
            )
        return None


def _is_on() -> bool:
    try:
        return any(map(torch.is_autocast_enabled, ("cpu", "cuda")))
    except TypeError:  # before torch 2.4
        return torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled()
