from __future__ import annotations

import re

from ...check import Check
from ...events import Clip


class ClipAfterTheStep(Check):
    level = "error"
    change = "Clip between backward() and step()"

    def clipped(self, clip: Clip) -> str | None:
        for optimizer in self.run.facts.optimizers_of(clip.parameters):
            gradients = self.run.facts.of(optimizer)
            if gradients.steps and re.fullmatch("o*", gradients.since_step):
                return f"{clip.name}() clips gradients that the step has already used"
        return None
