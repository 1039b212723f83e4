from __future__ import annotations

from ...check import Check
from ...events import Function
from .shared import class_dimension, range_and_sums


class MultiHotTargetsInCrossEntropy(Check):
    level = "warning"
    change = "Call binary_cross_entropy_with_logits() for rows that may have several labels"

    def function(self, function: Function) -> str | None:
        of = function.arguments
        if function.name == "cross_entropy" and of["target"].is_floating_point():
            logits, target = of["input"], of["target"]
            if target.shape == logits.shape and target.numel():
                self.ask(range_and_sums(target, class_dimension(logits)), self._judge)
        return None

    def _judge(self, numbers: list[float]) -> str | None:
        low, high, _, greatest = numbers
        if low >= 0 and high <= 1 and greatest > 1.05:
            return f"the target probabilities of a row add up to {greatest:.3g}"
        return None
