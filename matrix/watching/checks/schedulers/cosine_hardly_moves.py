from __future__ import annotations

from typing import Any

from .shared import Slow


class CosineHardlyMoves(Slow):
    level = "warning"
    change = "Step the scheduler after each batch, or pass the number of epochs as T_max"
    kind = "CosineAnnealingLR"

    def length(self, scheduler: Any) -> int:
        return int(scheduler.T_max)
