from __future__ import annotations

from typing import Any

import torch

from ...check import Check


class SchedulerFirstSkipsARate(Check):
    level = "warning"
    change = "Call scheduler.step() after optimizer.step()"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._found: list[tuple[Any, tuple[str, int]]] = []  # schedulers, until the first step

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        found, self._found = self._found, []
        for scheduler, place in found:
            if scheduler.last_epoch == 1:  # otherwise the program winds the schedule forward
                message = "the scheduler steps before the first step of the optimizer"
                self.run.report(self, message, place)
        return None

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        steps = {id(each): self.run.facts.of(each).steps for each in self.run.facts.optimizers()}
        skipped = any(scaler.is_enabled() for scaler in self.run.facts.scalers)
        if scheduler.last_epoch == 0 and not any(steps.values()) and not skipped and metric is None:
            self._found.append((scheduler, self.run.place()))
        return None
