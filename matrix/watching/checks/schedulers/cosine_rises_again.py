from __future__ import annotations

from typing import Any

from ...check import Check


class CosineRisesAgain(Check):
    level = "warning"
    change = "Pass the number of scheduler steps as T_max, or stop after T_max steps"

    def after_schedule(self, scheduler: Any, metric: Any) -> str | None:
        if (
            type(scheduler).__name__ == "CosineAnnealingLR"
            and scheduler.last_epoch > scheduler.T_max
        ):
            return f"the schedule is over after {scheduler.T_max} steps, and the rate rises again"
        return None
