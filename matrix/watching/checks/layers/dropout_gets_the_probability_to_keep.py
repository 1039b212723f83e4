from __future__ import annotations

from torch import nn

from ...check import Check
from ...events import Call


class DropoutGetsTheProbabilityToKeep(Check):
    level = "note"
    change = "Pass the probability to drop, 1 - keep_prob"

    def called(self, call: Call) -> str | None:
        if isinstance(call.module, nn.modules.dropout._DropoutNd) and call.module.p > 0.5:
            name = self.run.facts.name_of(call.module)
            return f"{name} drops {call.module.p:.0%} of its input"
        return None
