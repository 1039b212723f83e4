from __future__ import annotations

from typing import Any

from ...check import Check


class DefaultScalerIsOff(Check):
    level = "note"
    change = "Pass the device to torch.amp.GradScaler()"

    def scaler_made(self, scaler: Any, enabled: bool) -> str | None:
        if enabled and not scaler.is_enabled():
            return "the GradScaler is for CUDA, which this machine lacks, so it does nothing"
        return None
