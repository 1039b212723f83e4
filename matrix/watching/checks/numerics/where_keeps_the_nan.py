from __future__ import annotations

from ...events import Backward
from .shared import HIDING, NanGradient, inputs_of, is_singular


class WhereKeepsTheNan(NanGradient):
    change = "Replace the input of the operation where its result is not used, not only the result"
    message = "the gradient of {} is NaN although the loss is finite: where() hides an operation"

    def cause(self, backward: Backward) -> bool:
        return any(
            is_singular(each) for node in backward.named(*HIDING) for each in inputs_of(node, 6)
        )
