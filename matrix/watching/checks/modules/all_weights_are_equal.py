from __future__ import annotations

import torch
from torch import nn

from ...check import Check
from ...events import Call


class AllWeightsAreEqual(Check):
    level = "warning"
    change = "Initialize the weights with random numbers"

    def called(self, call: Call) -> str | None:
        weight = getattr(call.module, "weight", None)
        if self.run.step > 1 or not isinstance(weight, nn.Parameter) or weight.dim() < 2:
            return None
        if len(weight) < 4 or isinstance(call.module, nn.Embedding):
            return None
        name = self.run.facts.name_of(call.module)
        rows = weight.flatten(1)
        self.ask(
            torch.stack([(rows - rows[:1]).abs().max(), rows.abs().max()]),
            lambda values: (
                f"all units of {name} have the same weights"
                if values[0] == 0 and values[1]
                else None
            ),
        )
        return None
