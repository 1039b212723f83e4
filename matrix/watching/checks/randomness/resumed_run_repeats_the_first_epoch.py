from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...events import Batches


class ResumedRunRepeatsTheFirstEpoch(Check):
    level = "warning"
    change = "Save generator.get_state() too, and restore it when the run resumes"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._resumed = False

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, state: Any, before: Any
    ) -> str | None:
        self._resumed = bool(state.get("state"))
        return None

    def loader_started(self, batches: Batches) -> str | None:
        if not self._resumed:
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
