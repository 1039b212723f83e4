from __future__ import annotations

from ...check import Check
from ...events import Function


class SoftmaxOverTheBatch(Check):
    level = "warning"
    change = "Pass dim=-1, the dimension of the classes"

    def method(self, method: Function) -> str | None:
        others = method.arguments["others"]
        dim = method.arguments.get("dim", others[0] if others else None)
        if (
            method.name in ("softmax", "log_softmax")
            and dim == 0
            and method.arguments["input"].dim() == 2
        ):
            return f"{method.name}() normalizes over the batch, because dim is 0"
        return None
