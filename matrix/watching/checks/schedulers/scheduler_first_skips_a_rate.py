from __future__ import annotations

from typing import Any

from ...check import Check


class SchedulerFirstSkipsARate(Check):
    level = "warning"
    change = "Call scheduler.step() after optimizer.step()"

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        steps = {id(each): self.run.facts.of(each).steps for each in self.run.facts.optimizers()}
        skipped = any(scaler.is_enabled() for scaler in self.run.facts.scalers)
        if scheduler.last_epoch == 0 and not any(steps.values()) and not skipped and metric is None:
            return "the scheduler steps before the first step of the optimizer"
        return None
