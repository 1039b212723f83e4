from __future__ import annotations

from typing import Any

from ...check import Check
from ...events import Function
from .shared import are_probabilities, can_be_probabilities, class_dimension, origin, range_and_sums


class KlDivOfProbabilities(Check):
    level = "error"
    change = "Pass logits.log_softmax(-1) to kl_div() as its input"

    def function(self, function: Function) -> str | None:
        inputs: Any = function.arguments.get("input")
        if function.name == "kl_div" and can_be_probabilities(inputs):
            if origin(inputs) == "SoftmaxBackward":
                return "kl_div() gets the result of a softmax as its log-probabilities"
            for dim in {inputs.dim() - 1, class_dimension(inputs)}:
                self.ask(range_and_sums(inputs, dim), self._judge)
        return None

    def _judge(self, numbers: list[float]) -> str | None:
        if are_probabilities(numbers):
            return "kl_div() gets log-probabilities between 0 and 1 that add up to 1"
        return None
