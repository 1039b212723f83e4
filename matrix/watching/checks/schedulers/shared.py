from __future__ import annotations

from typing import Any

from ...check import Check
from ...facts import Gradients


class Slow(Check):
    """A schedule whose length counts batches, but which steps once per epoch. A base class."""

    kind = ""  # the class of the scheduler

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._places: dict[int, tuple[str, int]] = {}  # where the schedulers were made
        self._done: dict[int, tuple[Gradients, int, int]] = {}  # their steps and their lengths

    def scheduler_made(self, scheduler: Any, optimizer: Any) -> str | None:
        if type(scheduler).__name__ == self.kind:
            self._places[id(scheduler)] = self.run.place()
        return None

    def after_schedule(self, scheduler: Any, metric: Any) -> str | None:
        if id(scheduler) in self._places and type(scheduler).__name__ == self.kind:
            gradients = self.run.facts.of(scheduler.optimizer)
            self._done[id(scheduler)] = gradients, scheduler.last_epoch, self.length(scheduler)
        return None

    def ended(self) -> str | None:
        for key, (gradients, done, length) in self._done.items():
            if 0 < done <= length / 4 and abs(gradients.steps - length) <= 0.1 * length:
                message = (
                    f"the schedule has done {done} of its {length} steps, but the optimizer has "
                    f"done {gradients.steps}"
                )
                self.run.report(self, message, self._places[key])
        return None

    def length(self, scheduler: Any) -> int:
        raise NotImplementedError
