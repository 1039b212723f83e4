from __future__ import annotations

from ...check import Check
from ...events import Function


class PosWeightMeetsTheLastDimension(Check):
    level = "error"
    change = "Pass pos_weight.view(-1, 1, 1), which matches the dimension of the classes"

    def function(self, function: Function) -> str | None:
        if function.name == "binary_cross_entropy_with_logits":
            shape = tuple(function.arguments["input"].shape)
            for name in ("pos_weight", "weight"):
                weight = function.arguments[name]
                if (
                    weight is not None
                    and weight.dim() == 1
                    and len(shape) > 3
                    and shape[1] == shape[-1] == weight.numel() > 1
                ):
                    return (
                        f"{name} has one value per class, but is applied to the last dimension of "
                        f"{shape}"
                    )
        return None
