from __future__ import annotations

from typing import Any

import torch

from ...events import Batches
from ..shared import Resumed


class ResumeRepeatsTheShuffle(Resumed):
    level = "note"
    change = "Save torch.get_rng_state() too, and restore it when the run resumes"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._seed: Any = None  # set in this program, and not followed by a restored state

    def seeded(self, seed: Any) -> str | None:
        self._seed = None if self.resumed else seed  # after the resume, it belongs to an epoch
        return None

    def random_state_set(self) -> str | None:
        self._seed = None
        return None

    def loader_started(self, batches: Batches) -> str | None:
        sampler = batches.loader.sampler
        if not isinstance(sampler, torch.utils.data.RandomSampler) or sampler.generator is not None:
            return None
        resumed, self.resumed = self.resumed, False  # the first shuffle after the resume
        if resumed and self._seed is not None:
            return f"the run was resumed with the seed {self._seed}, but without its random state"
        return None
