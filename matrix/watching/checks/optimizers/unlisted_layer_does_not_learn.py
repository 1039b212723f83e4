from __future__ import annotations

import torch

from ...check import Check
from ...facts import parameters
from .shared import is_late, listed


class UnlistedLayerDoesNotLearn(Check):
    level = "warning"
    change = "Pass model.parameters() to the optimizer, or set requires_grad to False"

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if is_late(self.run, optimizer):
            return None
        known = listed(self.run)
        models = self.run.facts.models()
        inside = {id(p) for model in models for p in model.parameters()}
        if any(id(p) not in inside for p in parameters(optimizer)):
            return None  # see replaced_layer_does_not_learn
        for model in models:
            rest = [
                (name, p)
                for name, p in model.named_parameters()
                if p.grad is not None and p.requires_grad and id(p) not in known
            ]
            total = sum(1 for p in model.parameters() if id(p) in known)
            if rest and total and len(rest) <= total:  # a new head on a frozen model is deliberate
                return f"{rest[0][0]} gets a gradient, but is in no optimizer"
        return None
