from __future__ import annotations

from ...check import Check
from ...events import Function


class SdpaDropsOutInEvalMode(Check):
    level = "error"
    change = "Pass dropout_p=self.dropout if self.training else 0.0"

    def function(self, function: Function) -> str | None:
        if function.name != "scaled_dot_product_attention" or not function.parents:
            return None
        dropout = function.arguments.get("dropout_p", 0.0)
        if dropout and not function.parents[-1].training:
            name = self.run.facts.name_of(function.parents[-1])
            return f"attention drops {dropout:.0%} of its weights, although {name} is in eval mode"
        return None
