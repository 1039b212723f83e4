from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...events import Batches


class SamplerWithoutSetEpoch(Check):
    level = "warning"
    change = "Call sampler.set_epoch(epoch) at the start of each epoch"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._epochs: dict[int, tuple[Any, int]] = {}
        self._open: list[Batches] = []  # iterators that were not read to their end
        self._trains: set[int] = set()  # samplers whose batches were followed by steps

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if self._open:
            self._trains.add(id(self._open[-1].loader.sampler))
        return None

    def loader_ended(self, batches: Batches) -> str | None:
        self._open = [each for each in self._open if each is not batches]
        return None

    def loader_started(self, batches: Batches) -> str | None:
        self._open = [*self._open[-3:], batches]
        sampler = batches.loader.sampler
        if not isinstance(sampler, torch.utils.data.distributed.DistributedSampler):
            return None
        known, epoch = self._epochs.get(id(sampler), (None, -1))
        self._epochs[id(sampler)] = sampler, sampler.epoch
        same = known is sampler and sampler.shuffle and sampler.epoch == epoch
        if same and id(sampler) in self._trains:
            return "DistributedSampler yields the same order as in the previous epoch"
        return None
