from __future__ import annotations

from ...check import Check
from ...events import Function, node_name


class ReluBehindTheLastLayer(Check):
    level = "warning"
    change = "Remove the ReLU after the last layer"

    def function(self, function: Function) -> str | None:
        node = getattr(function.arguments.get("input"), "grad_fn", None)
        if (
            function.name == "cross_entropy"
            and node is not None
            and node_name(node) == "ReluBackward"
        ):
            return "cross_entropy() gets the result of a ReLU, which cannot be negative"
        return None
