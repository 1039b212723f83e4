from __future__ import annotations

from ...events import Backward
from .shared import HIDING, NanGradient, inputs_of, is_root


class SqrtAtZero(NanGradient):
    change = "Replace a square of 0 by 1 before sqrt(), and the root by 0 after it"
    message = "the gradient of {} is NaN although the loss is finite, and sqrt() is in the graph"

    def cause(self, backward: Backward) -> bool:
        roots = [node for node in backward.nodes if is_root(node)]
        hidden = {
            each for node in backward.named(*HIDING) for each in inputs_of(node, 6) if is_root(each)
        }
        return any(node not in hidden for node in roots)
