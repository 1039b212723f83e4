from __future__ import annotations

from typing import Any

from ...events import node_name
from .shared import NanResult, name, operand


class SmapeZeroOverZero(NanResult):
    change = "Replace a denominator of 0 by 1"
    message = "the result is NaN, and a division by a sum of absolute values is in its graph"

    def cause(self, node: Any) -> bool:
        if node_name(node) != "DivBackward":
            return False
        total = operand(node, 1)
        return name(total) == "AddBackward" and "AbsBackward" in (
            name(operand(total, 0)),
            name(operand(total, 1)),
        )
