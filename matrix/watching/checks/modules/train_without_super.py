from __future__ import annotations

from torch import nn

from ...check import Check


class TrainWithoutSuper(Check):
    level = "error"
    change = "Call super().train(mode) in train(), and return its result"

    def mode_set(self, module: nn.Module, training: bool) -> str | None:
        if not training:
            for part in module.modules():
                dropout = isinstance(part, nn.modules.dropout._DropoutNd)
                if part.training and not (dropout and type(part).train is not nn.Module.train):
                    return f"after eval(), {self.run.facts.name_of(part)} is still in train mode"
        return None
