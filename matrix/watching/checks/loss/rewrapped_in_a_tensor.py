from __future__ import annotations

from ...check import Check
from ...events import Backward
from .shared import leaf_loss


class RewrappedInATensor(Check):
    level = "error"
    change = "Call backward() on the computed loss itself, without torch.tensor(loss)"

    def before_backward(self, backward: Backward) -> str | None:
        loss = leaf_loss(backward)
        if loss is not None and not self.run.facts.optimizers_of([loss]):
            self.ask(
                loss,
                lambda value: (
                    f"backward() of {value:.3g}, a new tensor without a graph, reaches no parameter"
                    if value
                    else None
                ),
            )
        return None
