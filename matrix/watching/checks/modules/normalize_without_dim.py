from __future__ import annotations

from ...check import Check
from ...events import Function


class NormalizeWithoutDim(Check):
    level = "note"
    change = "Pass dim=-1 to F.normalize()"

    def function(self, function: Function) -> str | None:
        if function.name == "normalize" and "dim" not in function.given:
            if function.arguments["input"].dim() == 3:
                shape = tuple(function.arguments["input"].shape)
                return f"normalize() has no dim, so it uses the second dimension of {shape}"
        return None
