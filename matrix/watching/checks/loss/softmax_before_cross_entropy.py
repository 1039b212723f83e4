from __future__ import annotations

from ...check import Check
from ...events import Function
from .shared import origin

CASTS = {"ToCopyBackward"}  # autocast ends in float32


class SoftmaxBeforeCrossEntropy(Check):
    level = "error"
    change = "Pass the logits to cross_entropy(), which applies log_softmax() itself"

    def function(self, function: Function) -> str | None:
        if function.name != "cross_entropy":
            return None
        if origin(function.arguments.get("input"), CASTS) == "SoftmaxBackward":
            return "cross_entropy() gets the result of a softmax"
        return None
