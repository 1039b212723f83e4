from __future__ import annotations

import torch

from ...events import Batches
from ..shared import Resumed


class ResumedRunRepeatsTheFirstEpoch(Resumed):
    level = "warning"
    change = "Save generator.get_state() too, and restore it when the run resumes"

    def loader_started(self, batches: Batches) -> str | None:
        if not self.resumed:
            return None
        sampler = batches.loader.sampler
        generator = getattr(sampler, "generator", None)
        if not isinstance(sampler, torch.utils.data.RandomSampler) or generator is None:
            return None
        fresh = torch.Generator(generator.device).manual_seed(generator.initial_seed())
        state = generator.get_state()
        for _ in range(2):  # the iterator has perhaps drawn a seed for its workers
            if torch.equal(state, fresh.get_state()):
                return (
                    "the optimizer was resumed, but the generator of the loader starts at its seed"
                )
            torch.empty((), dtype=torch.int64, device=fresh.device).random_(generator=fresh)
        return None
