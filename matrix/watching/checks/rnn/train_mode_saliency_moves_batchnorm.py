from __future__ import annotations

from torch import nn

from .shared import InputGradient


class TrainModeSaliencyMovesBatchnorm(InputGradient):
    level = "warning"
    change = "Call model.eval() before you compute the saliency"

    def judge(self, part: nn.Module) -> str | None:
        if not isinstance(part, nn.modules.batchnorm._BatchNorm):
            return None
        name = self.run.facts.name_of(part)
        return (
            f"a gradient with respect to the input is computed while {name} updates its statistics"
        )
