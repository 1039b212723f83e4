from __future__ import annotations

from typing import Any

from ...check import Check


class SecondCosineStaysAtZero(Check):
    level = "warning"
    change = "Set the learning rate of each group before you build the second scheduler"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._moved: set[int] = set()  # optimizers whose schedule has moved

    def optimizer_made(self, optimizer: Any) -> str | None:
        self._moved.discard(id(optimizer))
        return None

    def after_schedule(self, scheduler: Any, metric: Any) -> str | None:
        self._moved.add(id(scheduler.optimizer))
        return None

    def scheduler_made(self, scheduler: Any, optimizer: Any) -> str | None:
        if type(scheduler).__name__ != "CosineAnnealingLR" or id(optimizer) not in self._moved:
            return None
        for group in optimizer.param_groups:
            if float(group["lr"]) <= float(scheduler.eta_min) + 1e-12 and group.get("initial_lr"):
                return f"the new schedule starts at the rate {float(group['lr']):g}"
        return None
