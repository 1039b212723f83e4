from __future__ import annotations

from ...check import Check
from ...events import Backward
from .shared import name, operand


class EntropyOfASureClass(Check):
    level = "warning"
    change = "Compute log_softmax(), and multiply it by its exp()"

    def before_backward(self, backward: Backward) -> str | None:
        for node in backward.named("MulBackward"):
            factors = [operand(node, index) for index in (0, 1)]
            for p, log in (factors, factors[::-1]):
                if name(p) != "SoftmaxBackward" or name(log) != "LogBackward":
                    continue
                other = operand(log, 0)
                if name(other) == name(p) and operand(other, 0) is operand(p, 0):
                    return "p * log(p) of the result of a softmax is NaN if a probability is 0"
        return None
