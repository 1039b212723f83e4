from __future__ import annotations

from ...check import Check
from ...events import Function


class FunctionalDropoutInEvalMode(Check):
    level = "error"
    change = "Pass training=self.training to F.dropout()"

    def function(self, function: Function) -> str | None:
        arguments = function.arguments
        if function.name == "dropout" and function.parents and not function.parents[-1].training:
            if "training" not in function.given and arguments["p"]:  # True by default
                name = self.run.facts.name_of(function.parents[-1])
                return f"F.dropout() drops values, although {name} is in eval mode"
        return None
