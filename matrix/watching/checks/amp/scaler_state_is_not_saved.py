from __future__ import annotations

from typing import Any

from ...check import Check


class ScalerStateIsNotSaved(Check):
    level = "warning"
    change = "Save scaler.state_dict() too, and load it when the run resumes"

    def saved(self, obj: Any) -> str | None:
        if not isinstance(obj, dict) or not any(
            each.is_enabled() for each in self.run.facts.scalers
        ):
            return None
        states = [value for value in obj.values() if isinstance(value, dict)]
        optimizers = any("param_groups" in each for each in states)
        if optimizers and not any("growth_factor" in each for each in states):
            return "the checkpoint has the state of the optimizer, but not that of the GradScaler"
        return None
