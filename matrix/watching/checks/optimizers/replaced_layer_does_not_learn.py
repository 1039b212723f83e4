from __future__ import annotations

import torch

from ...check import Check
from ...facts import parameters
from .shared import is_late, listed


class ReplacedLayerDoesNotLearn(Check):
    level = "error"
    change = "Build the optimizer after the layer is replaced, or call add_param_group()"

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if is_late(self.run, optimizer):
            return None
        known = listed(self.run)
        models = self.run.facts.models()
        inside = {id(p) for model in models for p in model.parameters()}
        own = [p for p in parameters(optimizer) if p.requires_grad]
        stale = [p for p in own if id(p) not in inside and p.grad is None]
        if not stale or len(stale) == len(own):
            return None
        for model in models:
            if not any(id(p) in known for p in model.parameters()):
                continue  # such as a network that is part of the loss
            for name, parameter in model.named_parameters():
                if parameter.grad is not None and id(parameter) not in known:
                    return (
                        f"{name} gets a gradient, but is in no optimizer, which holds an old layer"
                    )
        return None
