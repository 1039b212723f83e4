from __future__ import annotations

from typing import Any

from torch import nn

from ...check import Check


class TrainModeSaliencyMovesBatchnorm(Check):
    level = "warning"
    change = "Call model.eval() before the saliency"

    def differentiated(self, outputs: Any, inputs: Any, create_graph: bool) -> str | None:
        models = [model for model in self.run.facts.models() if model.training]
        held = {id(p) for model in models for p in model.parameters()}
        if create_graph or any(id(each) in held for each in inputs) or not inputs:
            return None
        for model in models:
            for part in model.modules():
                if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.training:
                    name = self.run.facts.name_of(part)
                    return (
                        f"a gradient with respect to the input, and {name} updates its statistics"
                    )
        return None
