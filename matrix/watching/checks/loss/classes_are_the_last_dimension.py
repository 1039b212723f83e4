from __future__ import annotations

import torch

from ...check import Check
from ...events import Function, node_name
from .shared import VIEWS, origin_node


class ClassesAreTheLastDimension(Check):
    level = "error"
    change = (
        "Call cross_entropy(logits.movedim(-1, 1), labels), because dimension 1 has the classes"
    )

    def function(self, function: Function) -> str | None:
        of = function.arguments
        if function.name != "cross_entropy" or of["input"].dim() < 3 or not of["input"].numel():
            return None
        logits, target = of["input"], of["target"]
        if target.shape == logits.shape and target.is_floating_point():
            sums = [(target.float().sum(dim) - 1).abs().amax() for dim in (-1, 1)]
            self.ask(torch.stack(sums), self._of_targets)
        elif len({*logits.shape[1:]}) == 1 < logits.shape[1] and not target.is_floating_point():
            if is_of_linear(logits):
                return (
                    f"a Linear has put the classes into the last dimension of {self._shape(logits)}"
                )
            ignored = of["ignore_index"]
            turned = torch.nn.functional.cross_entropy(
                logits.movedim(-1, 1), target, ignore_index=ignored
            )
            taken = torch.nn.functional.cross_entropy(logits, target, ignore_index=ignored)
            self.ask(torch.stack([turned, taken]), self._of_losses)
        return None

    def _of_targets(self, off: list[float]) -> str | None:
        if off[0] < 0.01 and off[1] > 0.05:
            return "the target probabilities add up to 1 over the last dimension, not dimension 1"
        return None

    def _of_losses(self, losses: list[float]) -> str | None:
        turned, taken = losses
        if turned < taken / 2 and taken > 0.1:
            return (
                f"the loss is {taken:.3g} over dimension 1 of the logits and would be {turned:.3g}"
                " over the last dimension"
            )
        return None

    def _shape(self, logits: torch.Tensor) -> str:
        return f"logits of shape {tuple(logits.shape)}"


def is_of_linear(logits: torch.Tensor) -> bool:
    """True if a Linear with an output per class has computed the logits, and nothing has moved
    their dimensions since.
    """
    node = origin_node(logits.grad_fn, VIEWS)
    if node is not None and node_name(node) == "AddBackward":  # of its bias
        parts = [each for each, _ in node.next_functions if each is not None]
        if any(getattr(part, "variable", None) is not None for part in parts):
            node = origin_node(parts[0], VIEWS)
    if node is not None and node_name(node) in ("AddmmBackward", "MmBackward", "LinearBackward"):
        for part, _ in node.next_functions:
            if part is not None and node_name(part) == "TBackward":
                part = part.next_functions[0][0]
            weight = getattr(part, "variable", None)  # or the bias
            if weight is not None and weight.shape[:1] == logits.shape[-1:]:
                return True
    return False
