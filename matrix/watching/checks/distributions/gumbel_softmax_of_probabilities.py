from __future__ import annotations

from ...check import Check
from ...events import Function
from ..loss.shared import are_probabilities, can_be_probabilities, origin, range_and_sums


class GumbelSoftmaxOfProbabilities(Check):
    level = "error"
    change = "Pass the logits to gumbel_softmax(), or the logarithm of the probabilities"

    def function(self, function: Function) -> str | None:
        of = function.arguments
        if function.name == "gumbel_softmax" and can_be_probabilities(of["logits"], of["dim"]):
            if origin(of["logits"]) == "SoftmaxBackward":
                return "gumbel_softmax() gets the result of a softmax"
            if of["logits"].is_leaf and of["logits"].requires_grad:
                return None  # a parameter that starts as 1/n; its gradients add up to 0
            self.ask(range_and_sums(of["logits"], of["dim"]), self._judge)
        return None

    def _judge(self, numbers: list[float]) -> str | None:
        if are_probabilities(numbers):
            return "gumbel_softmax() gets logits between 0 and 1 that add up to 1"
        return None
