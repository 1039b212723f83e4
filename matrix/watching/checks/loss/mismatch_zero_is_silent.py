from __future__ import annotations

from ...check import Check
from ...events import Backward
from .shared import leaf_loss


class MismatchZeroIsSilent(Check):
    level = "error"
    change = "Raise an error if there is no target, instead of a zero with requires_grad=True"

    def before_backward(self, backward: Backward) -> str | None:
        loss = leaf_loss(backward)
        if loss is not None and not self.run.facts.optimizers_of([loss]):
            self.ask(
                loss,
                lambda value: (
                    "the loss is a new tensor of 0 without a graph, so no parameter is trained"
                    if value == 0
                    else None
                ),
            )
        return None
