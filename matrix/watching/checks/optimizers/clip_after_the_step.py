from __future__ import annotations

import math
import re

from ...check import Check
from ...events import Clip


class ClipAfterTheStep(Check):
    level = "error"
    change = "Clip between backward() and step()"

    def clipped(self, clip: Clip) -> str | None:
        if isinstance(clip.bound, float) and clip.bound == math.inf:  # only measures the norm
            return None
        optimizers = self.run.facts.optimizers_of(clip.parameters)
        known = [self.run.facts.of(optimizer) for optimizer in optimizers]
        if known and all(each.steps and re.fullmatch("o*", each.since_step) for each in known):
            return f"{clip.name}() clips gradients that the step has already used"
        return None
