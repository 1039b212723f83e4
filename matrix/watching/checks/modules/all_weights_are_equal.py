from __future__ import annotations

import torch
from torch import nn

from ...check import Check
from ...events import Call

LAYERS = (nn.Linear, nn.modules.conv._ConvNd)


class AllWeightsAreEqual(Check):
    level = "warning"
    change = "Initialize the weights with random numbers"

    def called(self, call: Call) -> str | None:
        if self.run.step > 1 or not isinstance(call.module, LAYERS):
            return None
        weight = call.module.weight
        if len(weight) < 4 or not weight.requires_grad or getattr(call.module, "groups", 1) > 1:
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
