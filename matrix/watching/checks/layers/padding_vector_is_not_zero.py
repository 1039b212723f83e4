from __future__ import annotations

from torch import nn

from ...check import Check
from ...events import Call


class PaddingVectorIsNotZero(Check):
    level = "note"
    change = "Set weight[padding_idx] to zero after the initialization"

    def called(self, call: Call) -> str | None:
        module = call.module
        if (
            isinstance(module, nn.Embedding)
            and module.padding_idx is not None
            and self.run.step == 1
            and call.grad
        ):
            name = self.run.facts.name_of(module)
            self.ask(
                module.weight[module.padding_idx].abs().max(),
                lambda value: f"the vector at padding_idx of {name} is not zero" if value else None,
            )
        return None
