from __future__ import annotations

from ...check import Check
from ...events import Function


class NormalizeWithoutDim(Check):
    level = "note"
    change = "Pass dim=-1 to F.normalize()"

    def function(self, function: Function) -> str | None:
        if function.name == "normalize" and function.arguments["dim"] == 1:
            if function.arguments["input"].dim() == 3:
                shape = tuple(function.arguments["input"].shape)
                return f"normalize() scales a tensor of shape {shape} over its second dimension"
        return None
