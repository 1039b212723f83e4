from __future__ import annotations

from typing import Any

from ...check import Check
from ...facts import unwrapped


class SkippedStepMovesTheSchedule(Check):
    level = "warning"
    change = "Call scheduler.step() only if scaler.update() has not lowered the scale"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._skipped: set[int] = set()

    def scaler_stepped(self, scaler: Any, optimizer: Any, stepped: bool) -> str | None:
        (self._skipped.discard if stepped else self._skipped.add)(id(optimizer))
        return None

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        if id(unwrapped(scheduler.optimizer)) in self._skipped:
            return "the scheduler steps although GradScaler has skipped the step of the optimizer"
        return None
