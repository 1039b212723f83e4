from __future__ import annotations

from ...check import Check
from ...events import Call
from .shared import is_stray


class LayersInAListNeverTrain(Check):
    level = "error"
    change = "Use nn.ModuleList, nn.ModuleDict or nn.Sequential"

    def called(self, call: Call) -> str | None:
        if not is_stray(call) or self.run.facts.optimizers_of([*call.module.parameters()]):
            return None
        for parent in call.parents:
            for key, value in vars(parent).items():
                held = value.values() if isinstance(value, dict) else value
                if key[0] != "_" and isinstance(value, (list, tuple, dict)):
                    if any(call.module is each for each in held):
                        kind = type(value).__name__
                        name = self.run.facts.name_of(parent)
                        return f"the {kind} {key} of {name} hides its layers from parameters()"
        return None
