from __future__ import annotations

import torch

from ...check import Check
from ...events import Batches


class SamplerGetsClassWeights(Check):
    level = "error"
    change = "Pass one weight per row: weights[labels]"

    def loader_started(self, batches: Batches) -> str | None:
        sampler = batches.loader.sampler
        if not isinstance(sampler, torch.utils.data.WeightedRandomSampler):
            return None
        rows, weights = len(batches.loader.dataset), len(sampler.weights)
        if weights < rows:
            return f"WeightedRandomSampler has {weights} weights for {rows} rows"
        return None
