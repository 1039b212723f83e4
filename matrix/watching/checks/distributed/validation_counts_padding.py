from __future__ import annotations

import torch

from ...check import Check
from ...events import Batches


class ValidationCountsPadding(Check):
    level = "note"
    change = "Use drop_last, or a sampler that does not repeat rows, for the validation"

    def loader_started(self, batches: Batches) -> str | None:
        sampler = batches.loader.sampler
        if not isinstance(sampler, torch.utils.data.distributed.DistributedSampler):
            return None
        rest = len(sampler.dataset) % sampler.num_replicas
        if not sampler.shuffle and not sampler.drop_last and rest:
            extra = sampler.num_replicas - rest
            return f"DistributedSampler repeats {extra} of {len(sampler.dataset)} rows"
        return None
