from __future__ import annotations

from typing import Any

from torch import nn

from ...check import Check


class TrainModeSaliencyIsRandom(Check):
    level = "warning"
    change = "Call model.eval() before the saliency"

    def differentiated(self, outputs: Any, inputs: Any, create_graph: bool) -> str | None:
        models = [model for model in self.run.facts.models() if model.training]
        held = {id(p) for model in models for p in model.parameters()}
        if create_graph or any(id(each) in held for each in inputs) or not inputs:
            return None
        for model in models:
            for part in model.modules():
                drops = getattr(part, "dropout", 0.0) if isinstance(part, nn.RNNBase) else 0.0
                drops = part.p if isinstance(part, nn.modules.dropout._DropoutNd) else drops
                if drops and part.training:
                    return (
                        f"{self.run.facts.name_of(part)} drops out during a gradient of the input"
                    )
        return None
