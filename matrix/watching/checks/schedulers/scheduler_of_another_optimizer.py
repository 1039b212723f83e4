from __future__ import annotations

from typing import Any

from ...check import Check
from ...facts import parameters

MESSAGE = "the scheduler's optimizer never steps; another optimizer trains its parameters"


class SchedulerOfAnotherOptimizer(Check):
    level = "error"
    change = "Create the scheduler with the optimizer whose step() you call"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._found: dict[int, tuple[Any, tuple[str, int]]] = {}  # until the next step of each

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        self._report()  # a scheduler that steps first in a new phase has an optimizer that follows
        facts = self.run.facts
        if facts.of(scheduler.optimizer).steps:
            return None
        own = {id(p) for p in parameters(scheduler.optimizer)}
        groups = scheduler.optimizer.param_groups
        for other in facts.optimizers():
            if any(a is b for a, b in zip(groups, other.param_groups)):
                continue  # the scheduler's optimizer wraps it, such as SAM
            if facts.of(other).steps and any(id(p) in own for p in parameters(other)):
                self._found[id(scheduler)] = facts.of(scheduler.optimizer), self.run.place()
        return None

    def ended(self) -> str | None:
        self._report()
        return None

    def _report(self) -> None:
        found, self._found = self._found, {}
        for gradients, place in found.values():
            if not gradients.steps:
                self.run.report(self, MESSAGE, place)
