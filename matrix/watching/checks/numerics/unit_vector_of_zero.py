from __future__ import annotations

from typing import Any

from ...events import node_name
from .shared import NanResult, name, operand


class UnitVectorOfZero(NanResult):
    change = "Replace a norm of 0 by 1 before the division"
    message = "the result is NaN, and a division by the norm of a vector is in its graph"

    def cause(self, node: Any) -> bool:
        return node_name(node) == "DivBackward" and name(operand(node, 1)) in (
            "LinalgVectorNormBackward",
            "NormBackward",
        )
