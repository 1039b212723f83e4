from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...events import Batches, tensors


class NotShuffled(Check):
    level = "warning"
    change = "Pass shuffle=True to the loader of the training data"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._single: list[Any] = []  # the smallest and largest label of the last batches

    def loader_started(self, batches: Batches) -> str | None:
        self._single = []
        return None

    def batch(self, batches: Batches, batch: Any) -> str | None:
        found = list(tensors(batch, 1))
        labels = found[-1] if len(found) > 1 else None
        if labels is None or labels.dim() != 1 or labels.is_floating_point() or len(labels) < 2:
            return None
        if isinstance(batches.loader.sampler, torch.utils.data.SequentialSampler):
            self._single.append((labels.max() - labels.min()).reshape(1))
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if len(self._single) >= 2:
            spread = torch.cat(self._single)
            self._single = []
            self.ask(
                spread.sum(),
                lambda total: (
                    None if total else "each of the last batches has rows of one class only"
                ),
            )
        return None
