from __future__ import annotations

from torch import nn

from ...check import Check
from ...events import Call


class DropoutGetsTheProbabilityToKeep(Check):
    level = "note"
    change = "Pass the probability to drop, 1 - keep_prob"

    def called(self, call: Call) -> str | None:
        module = call.module
        if isinstance(module, nn.modules.dropout._DropoutNd) and module.p > 0.5 and module.training:
            return f"{self.run.facts.name_of(module)} drops {module.p:.0%} of its input"
        return None
