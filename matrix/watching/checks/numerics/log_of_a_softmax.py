from __future__ import annotations

from typing import Any

from ...check import Check
from ...events import Backward
from .shared import name, operand


class LogOfASoftmax(Check):
    level = "warning"
    change = "Call log_softmax() instead of softmax() and log()"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._acts = False  # True if a Categorical has sampled: what it samples is never impossible

    def drawn(self, name: str, distribution: Any, value: Any) -> str | None:
        self._acts |= name == "sample" and type(distribution).__name__ == "Categorical"
        return None

    def before_backward(self, backward: Backward) -> str | None:
        entropies = set()
        for node in backward.named("MulBackward"):
            factors = [operand(node, index) for index in (0, 1)]
            if "SoftmaxBackward" in map(name, factors):
                entropies |= {log for log in factors if name(log) == "LogBackward"}
        for node in backward.named("LogBackward"):
            if self._acts and name(node.next_functions[0][0]) == "SelectBackward":
                continue  # the probability of an action
            if name(operand(node, 0)) == "SoftmaxBackward" and node not in entropies:
                return "log() of the result of a softmax is -inf if a probability is 0"
        return None
