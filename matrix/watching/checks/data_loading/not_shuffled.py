from __future__ import annotations

from functools import partial
from typing import Any

import torch

from ...check import Check
from ...events import Batches, tensors

CHANCE = 10  # with fewer rows than these after the first row of each batch, it may be chance


class NotShuffled(Check):
    level = "warning"
    change = "Pass shuffle=True to the loader of the training data"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._batches: list[Any] = []  # the smallest and largest label of the last batches
        self._seen: list[tuple[float, float]] = []  # the same of batches that a step has used
        self._rows = 0  # the rows of these batches

    def loader_started(self, batches: Batches) -> str | None:
        self._batches, self._seen, self._rows = [], [], 0
        return None

    def batch(self, batches: Batches, batch: Any) -> str | None:
        found = list(tensors(batch, 1))
        labels = found[-1] if len(found) > 1 else None
        if labels is None or labels.dim() != 1 or labels.is_floating_point() or len(labels) < 2:
            return None
        if isinstance(batches.loader.sampler, torch.utils.data.SequentialSampler):
            self._batches.append((torch.stack([labels.min(), labels.max()]), len(labels)))
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        for batch, rows in self._batches:
            self.ask(batch, partial(self._judge, rows))
        self._batches = []
        return None

    def _judge(self, rows: int, batch: list[float]) -> str | None:
        self._seen.append((batch[0], batch[1]))
        self._rows += rows
        chance = self._rows - len(self._seen) < CHANCE
        classes = {smallest for smallest, _ in self._seen}
        if (
            not chance
            and all(smallest == largest for smallest, largest in self._seen)
            and len(classes) > 1
        ):
            return f"each of {len(self._seen)} batches has rows of one class only"
        return None
