from __future__ import annotations

from typing import Any

from ...check import Check
from ...events import Batches

EPOCHS = 100  # a longer step_size is likely to count batches on purpose
DROPS = 2


class StepLrCountsBatches(Check):
    level = "warning"
    change = "Call scheduler.step() after each epoch, or pass a number of batches as step_size"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._passes = 0
        # By scheduler: the pass, its first epoch, and the steps of the optimizer before it.
        self._first: dict[int, tuple[int, int, int]] = {}

    def loader_started(self, batches: Batches) -> str | None:
        self._passes += 1
        return None

    def after_schedule(self, scheduler: Any, metric: Any) -> str | None:
        if type(scheduler).__name__ != "StepLR" or not self._passes:
            return None
        if scheduler.step_size > EPOCHS or scheduler.gamma > 0.5:
            return None
        now, size = scheduler.last_epoch, scheduler.step_size
        total = self.run.facts.of(scheduler.optimizer).steps
        number, first, before = self._first.get(id(scheduler), (0, 0, 0))
        if number != self._passes:
            self._first[id(scheduler)] = self._passes, now, total
        elif now % size == 0 and now // size - first // size == DROPS:
            steps = now - first + 1
            if total - before > 2 * steps:  # the loader never ends, and an epoch has many batches
                return None
            return f"StepLR has lowered the rate {DROPS} times in {steps} steps of one epoch"
        return None
