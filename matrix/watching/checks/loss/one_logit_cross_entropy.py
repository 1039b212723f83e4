from __future__ import annotations

from ...check import Check
from ...events import Function


class OneLogitCrossEntropy(Check):
    level = "error"
    change = "Call binary_cross_entropy_with_logits(), or give the head an output per class"

    def function(self, function: Function) -> str | None:
        if function.name == "cross_entropy":
            shape = tuple(function.arguments["input"].shape)
            # A batch of one row may be the last batch of a contrastive loss.
            if len(shape) > 1 and shape[1] == 1 and (shape[0] > 1 or len(shape) > 2):
                return f"cross_entropy() of logits of shape {shape}, with one class, is always 0"
        return None
