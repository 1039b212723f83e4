from __future__ import annotations

from ...check import Check
from ...events import Function


class SoftmaxBeforeCrossEntropy(Check):
    level = "error"
    change = "Pass the logits to cross_entropy(), which applies log_softmax() itself"

    def function(self, function: Function) -> str | None:
        node = getattr(function.arguments.get("input"), "grad_fn", None)
        if function.name == "cross_entropy" and node and node.name().startswith("SoftmaxBackward"):
            return "cross_entropy() gets the result of a softmax"
        return None
