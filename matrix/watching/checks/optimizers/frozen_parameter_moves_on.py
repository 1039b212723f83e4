from __future__ import annotations

import torch

from ...check import Check
from ...facts import parameters


class FrozenParameterMovesOn(Check):
    level = "warning"
    change = "Set .grad to None when you freeze a parameter"

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        for parameter in parameters(optimizer):
            if not parameter.requires_grad and parameter.grad is not None and parameter.is_leaf:
                name = self.run.facts.name_of(parameter)
                return f"{name} is frozen, but still has a gradient, so the step moves it"
        return None
