from __future__ import annotations

from ...check import Check
from ...events import Function


class SoftmaxWithoutDim(Check):
    level = "warning"
    change = "Pass dim=-1"

    def function(self, function: Function) -> str | None:
        if function.name not in ("softmax", "log_softmax", "softmin"):
            return None
        shape = tuple(function.arguments["input"].shape)
        if function.arguments["dim"] is None and len(shape) == 3:
            return f"{function.name}() gets no dim, so it uses the first dimension of {shape}"
        return None
