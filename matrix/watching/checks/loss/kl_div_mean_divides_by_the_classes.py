from __future__ import annotations

from ...check import Check
from ...events import Function


class KlDivMeanDividesByTheClasses(Check):
    level = "warning"
    change = "Call kl_div(..., reduction='none').sum(-1).mean(), or reduction='batchmean'"

    def function(self, function: Function) -> str | None:
        if function.name == "kl_div" and function.arguments["reduction"] == "mean":
            shape = tuple(function.arguments["input"].shape)
            if len(shape) > 1 and shape[0] and shape[-1] > 1:
                return (
                    f"kl_div() with reduction='mean' divides by the product of all sizes in {shape}"
                )
        return None
