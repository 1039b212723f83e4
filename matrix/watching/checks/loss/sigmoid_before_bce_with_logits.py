from __future__ import annotations

from ...check import Check
from ...events import Function
from .shared import origin


class SigmoidBeforeBceWithLogits(Check):
    level = "error"
    change = "Pass the logits to binary_cross_entropy_with_logits(), which applies a sigmoid itself"

    def function(self, function: Function) -> str | None:
        if function.name != "binary_cross_entropy_with_logits":
            return None
        if origin(function.arguments["input"]) != "SigmoidBackward":
            return None
        return "binary_cross_entropy_with_logits() gets the result of a sigmoid"
