from __future__ import annotations

from typing import Any

from ...check import Check
from ...facts import parameters


class SchedulerOfAnotherOptimizer(Check):
    level = "error"
    change = "Create the scheduler with the optimizer whose step() you call"

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        facts = self.run.facts
        if facts.of(scheduler.optimizer).steps:
            return None
        own = {id(p) for p in parameters(scheduler.optimizer)}
        groups = scheduler.optimizer.param_groups
        for other in facts.optimizers():
            if any(a is b for a, b in zip(groups, other.param_groups)):
                continue  # the scheduler's optimizer wraps it, such as SAM
            if facts.of(other).steps and any(id(p) in own for p in parameters(other)):
                return (
                    "the scheduler's optimizer never steps; another optimizer trains its parameters"
                )
        return None
