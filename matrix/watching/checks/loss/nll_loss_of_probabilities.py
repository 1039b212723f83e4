from __future__ import annotations

from ...check import Check
from ...events import Function
from .shared import are_probabilities, can_be_probabilities, class_dimension, origin, range_and_sums


class NllLossOfProbabilities(Check):
    level = "error"
    change = "Pass the logits to cross_entropy(), or logits.log_softmax(1) to nll_loss()"

    def function(self, function: Function) -> str | None:
        inputs = function.arguments.get("input")
        if function.name == "nll_loss" and can_be_probabilities(inputs, class_dimension(inputs)):
            if origin(inputs) == "SoftmaxBackward":
                return "nll_loss() gets the result of a softmax as its log-probabilities"
            self.ask(range_and_sums(inputs, class_dimension(inputs)), self._judge)
        return None

    def _judge(self, numbers: list[float]) -> str | None:
        if are_probabilities(numbers):
            return "nll_loss() gets log-probabilities between 0 and 1 that add up to 1"
        return None
