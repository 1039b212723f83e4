from __future__ import annotations

from typing import Any

from ...check import Check


class ScaleUnderflowWritesNan(Check):
    level = "error"
    change = "Stop the run when the scale becomes tiny, and look for NaN or infinity in the data"

    def scaler_updated(self, scaler: Any) -> str | None:
        scale = getattr(scaler, "_scale", None)
        if scale is not None and self._skips > 20:
            self.ask(
                scale,
                lambda value: f"the loss scale has fallen to {value:g}" if value < 1e-30 else None,
            )
            self._skips -= 10
        return None

    _skips = 0

    def scaler_stepped(self, scaler: Any, optimizer: Any, stepped: bool) -> str | None:
        self._skips = 0 if stepped else self._skips + 1
        return None
