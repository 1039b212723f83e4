from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...facts import unwrapped


class ResumeWithoutSchedulerState(Check):
    level = "warning"
    change = "Save scheduler.state_dict() too, and load it when the run resumes"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._loaded: dict[int, list[float]] = {}  # by optimizer: the learning rates
        self._found: list[tuple[Any, str, tuple[str, int]]] = []  # until the next step

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, state: Any, before: Any
    ) -> str | None:
        self._loaded[id(optimizer)] = _rates(optimizer)
        return None

    def optimizer_made(self, optimizer: torch.optim.Optimizer) -> str | None:
        self._loaded.pop(id(optimizer), None)
        return None

    def scheduler_made(self, scheduler: Any, optimizer: Any) -> str | None:
        self._loaded.pop(id(optimizer), None)  # perhaps a new schedule on purpose
        return None

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        loaded = self._loaded.pop(id(unwrapped(scheduler.optimizer)), None)
        fresh = getattr(scheduler, "base_lrs", None) and scheduler.last_epoch == 0
        if not fresh or loaded != _rates(scheduler.optimizer):
            return None
        own = [float(rate) for rate in scheduler._last_lr]
        if own != loaded:
            kind = type(scheduler).__name__
            message = (
                f"the loaded learning rate is {loaded[0]:g}, but {kind} starts again at {own[0]:g}"
            )
            self._found.append((scheduler, message, self.run.place()))
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        return self.ended() if self._found else None

    def ended(self) -> str | None:
        found, self._found = self._found, []
        for scheduler, message, place in found:
            if scheduler.last_epoch == 1:  # otherwise the program winds the schedule forward
                self.run.report(self, message, place)
        return None


def _rates(optimizer: torch.optim.Optimizer) -> list[float]:
    return [float(group.get("lr", 0)) for group in optimizer.param_groups]
