from __future__ import annotations

from torch import nn

from ...check import Check
from ...events import Call
from ...facts import parameters


class FromPretrainedIsFrozen(Check):
    level = "note"
    change = "Pass freeze=False if the vectors should be trained"

    def called(self, call: Call) -> str | None:
        if isinstance(call.module, nn.Embedding) and call.grad and call.module.training:
            weight = call.module.weight
            if not weight.requires_grad:
                for optimizer in self.run.facts.optimizers():
                    if any(p is weight for p in parameters(optimizer)):
                        name = self.run.facts.name_of(call.module)
                        return f"{name} is in the optimizer, but its vectors are frozen"
        return None
