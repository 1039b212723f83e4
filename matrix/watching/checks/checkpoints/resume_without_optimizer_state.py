from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...facts import parameters
from ..shared import holds

COUNTERS = ("epoch", "step", "iter")  # in the names of what a run counts


class ResumeWithoutOptimizerState(Check):
    level = "note"
    change = "Save optimizer.state_dict() too if the run is to be resumed from this file"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._found: tuple[str, tuple[str, int]] | None = None
        self._saves_state = False

    def saved(self, obj: Any) -> str | None:
        if not isinstance(obj, dict):
            return None
        states = [value for value in obj.values() if isinstance(value, dict)]
        if holds(obj, "param_groups"):
            self._saves_state = True
        counts = [
            key
            for key, value in obj.items()
            if isinstance(value, int) and any(word in str(key).lower() for word in COUNTERS)
        ]
        weights = any(isinstance(v, torch.Tensor) for each in states for v in each.values())
        if counts and weights:
            for optimizer in self.run.facts.optimizers():
                if any("exp_avg" in optimizer.state.get(p, {}) for p in parameters(optimizer)):
                    kind = type(optimizer).__name__
                    message = f"the file has {counts[0]} and weights, but not the state of {kind}"
                    self._found = message, self.run.place()
        return None

    def ended(self) -> str | None:
        if self._found and not self._saves_state:
            self.run.report(self, *self._found)
        return None
