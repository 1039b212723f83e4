from __future__ import annotations

from typing import Any

import torch

from ...events import Batches
from ..shared import Resumed


class ResumedRunRepeatsTheFirstEpoch(Resumed):
    level = "warning"
    change = "Save generator.get_state() too, and restore it when the run resumes"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        # The loader, the seed of its first epoch, and the line: until the next epoch.
        self._found: tuple[Any, int, tuple[str, int]] | None = None

    def loader_started(self, batches: Batches) -> str | None:
        sampler = batches.loader.sampler
        generator = getattr(sampler, "generator", None)
        if self._found and self._found[0] is batches.loader:
            if generator is not None and generator.initial_seed() != self._found[1]:
                self._found = None  # each epoch has its own seed
            self.ended()
        if not self.resumed:
            return None
        if not isinstance(sampler, torch.utils.data.RandomSampler) or generator is None:
            return None
        fresh = torch.Generator(generator.device).manual_seed(generator.initial_seed())
        state = generator.get_state()
        for _ in range(2):  # the iterator has perhaps drawn a seed for its workers
            if torch.equal(state, fresh.get_state()):
                self.resumed = False
                self._found = batches.loader, generator.initial_seed(), self.run.place()
                return None
            torch.empty((), dtype=torch.int64, device=fresh.device).random_(generator=fresh)
        return None

    def ended(self) -> str | None:
        found, self._found = self._found, None
        if found:
            message = (
                "the optimizer was resumed, but the generator of the loader starts at its seed"
            )
            self.run.report(self, message, found[2])
        return None
