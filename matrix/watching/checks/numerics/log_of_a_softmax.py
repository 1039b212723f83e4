from __future__ import annotations

from ...check import Check
from ...events import Backward
from .shared import name, operand


class LogOfASoftmax(Check):
    level = "warning"
    change = "Call log_softmax() instead of softmax() and log()"

    def before_backward(self, backward: Backward) -> str | None:
        entropies = set()
        for node in backward.named("MulBackward"):
            factors = [operand(node, index) for index in (0, 1)]
            if "SoftmaxBackward" in map(name, factors):
                entropies |= {log for log in factors if name(log) == "LogBackward"}
        for node in backward.named("LogBackward"):
            if name(operand(node, 0)) == "SoftmaxBackward" and node not in entropies:
                return "log() of the result of a softmax is -inf if a probability is 0"
        return None
