from __future__ import annotations

from collections import Counter
from typing import Any

from ...check import Check
from ...facts import unwrapped


class SkippedStepMovesTheSchedule(Check):
    level = "warning"
    change = "Call scheduler.step() only if scaler.update() has not lowered the scale"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._skipped: set[int] = set()
        self._steps: Counter[int] = Counter()  # of each optimizer since its last schedule

    def scaler_stepped(self, scaler: Any, optimizer: Any, stepped: bool) -> str | None:
        self._steps[id(optimizer)] += 1
        (self._skipped.discard if stepped else self._skipped.add)(id(optimizer))
        return None

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        key = id(unwrapped(scheduler.optimizer))
        if self._steps.pop(key, 0) == 1 and key in self._skipped:  # more steps are an epoch
            return "the scheduler steps although GradScaler has skipped the step of the optimizer"
        return None
