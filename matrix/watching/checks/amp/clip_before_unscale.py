from __future__ import annotations

import re

from ...check import Check
from ...events import Clip

LARGE = 1000.0  # such a bound is multiplied by the scale, or only serves to measure the norm


class ClipBeforeUnscale(Check):
    level = "error"
    change = "Call scaler.unscale_(optimizer) before clipping"

    def clipped(self, clip: Clip) -> str | None:
        if isinstance(clip.bound, (int, float)) and clip.bound >= LARGE:
            return None
        for optimizer in self.run.facts.optimizers_of(clip.parameters):
            if re.search("B[^um]*$", self.run.facts.of(optimizer).since_step):
                return f"{clip.name}() clips gradients that are still multiplied by the loss scale"
        return None
