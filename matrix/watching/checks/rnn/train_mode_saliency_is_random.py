from __future__ import annotations

from torch import nn

from .shared import InputGradient


class TrainModeSaliencyIsRandom(InputGradient):
    level = "warning"
    change = "Call model.eval() before you compute the saliency"

    def judge(self, part: nn.Module) -> str | None:
        drops = getattr(part, "dropout", 0.0) if isinstance(part, nn.RNNBase) else 0.0
        drops = part.p if isinstance(part, nn.modules.dropout._DropoutNd) else drops
        if not drops:
            return None
        name = self.run.facts.name_of(part)
        return f"a gradient with respect to the input is computed while {name} drops values"
