from __future__ import annotations

from typing import Any

from .shared import Slow


class OneCycleStaysInItsWarmup(Slow):
    level = "warning"
    change = "Step the scheduler after each batch, or pass the number of epochs as total_steps"
    kind = "OneCycleLR"

    def length(self, scheduler: Any) -> int:
        return int(scheduler.total_steps)
