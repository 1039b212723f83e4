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

    def loader_started(self, batches: Batches) -> str | None:
        sampler = batches.loader.sampler
        if not isinstance(sampler, torch.utils.data.distributed.DistributedSampler):
            return None
        known, epoch = self._epochs.get(id(sampler), (None, -1))
        self._epochs[id(sampler)] = sampler, sampler.epoch
        if known is sampler and sampler.shuffle and sampler.epoch == epoch:
            return "DistributedSampler yields the same order as in the previous epoch"
        return None
