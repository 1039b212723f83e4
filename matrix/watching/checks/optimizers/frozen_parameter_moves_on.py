from __future__ import annotations

import torch

from ...check import Check
from ...facts import parameters


class FrozenParameterMovesOn(Check):
    level = "warning"
    change = "Set .grad to None when you freeze a parameter"

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if "c" in self.run.facts.of(optimizer).since_step and _ignores_zeros(optimizer):
            return None
        for parameter in parameters(optimizer):
            if not parameter.requires_grad and parameter.grad is not None and parameter.is_leaf:
                name = self.run.facts.name_of(parameter)
                return f"{name} is frozen, but still has a gradient, so the step moves it"
        return None


def _ignores_zeros(optimizer: torch.optim.Optimizer) -> bool:
    """True if the optimizer does not move a parameter whose gradient is zero."""
    if type(optimizer) not in (torch.optim.SGD, torch.optim.RMSprop):
        return False
    return not any(group["momentum"] or group["weight_decay"] for group in optimizer.param_groups)
