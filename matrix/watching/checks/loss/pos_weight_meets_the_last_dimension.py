from __future__ import annotations

from typing import Any

from ...check import Check
from ...events import Function, node_name
from .shared import SHAPES


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
                    and not _is_turned(function.arguments["input"].grad_fn)
                ):
                    return (
                        f"{name} has one value per class, but is applied to the last dimension of "
                        f"{shape}"
                    )
        return None


def _is_turned(node: Any) -> bool:
    """True if the program has moved the dimensions, or a Linear has put the classes last."""
    while node is not None and node_name(node) in SHAPES:
        if node_name(node) in ("PermuteBackward", "TransposeBackward"):
            return True
        node = node.next_functions[0][0]
    return node is not None and node_name(node) in ("AddmmBackward", "LinearBackward", "MmBackward")
