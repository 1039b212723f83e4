from __future__ import annotations

from typing import Any

from ...check import Check
from ..shared import holds


class ScalerStateIsNotSaved(Check):
    level = "warning"
    change = "Save scaler.state_dict() too, and load it when the run resumes"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._place: tuple[str, int] | None = None  # where the optimizer's state was saved
        self._saves_scaler = False

    def saved(self, obj: Any) -> str | None:
        if holds(obj, "growth_factor"):
            self._saves_scaler = True
        elif any(each.is_enabled() for each in self.run.facts.scalers):
            if holds(obj, "param_groups"):
                self._place = self.run.place()
        return None

    def ended(self) -> str | None:
        if self._place and not self._saves_scaler:  # neither in this file nor in another one
            message = (
                "the checkpoint has the state of the optimizer, but not that of the GradScaler"
            )
            self.run.report(self, message, self._place)
        return None
