from __future__ import annotations

import torch

from ...check import Check
from ...facts import parameters
from .shared import is_late, listed


class RebuiltModelDoesNotLearn(Check):
    level = "error"
    change = "Build the optimizer after the model"

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if is_late(self.run, optimizer):
            return None
        own = [p for p in parameters(optimizer) if p.requires_grad]
        if not own or any(p.grad is not None for p in own):
            return None
        known = listed(self.run)
        for model in self.run.facts.models():
            trained = [p for p in model.parameters() if p.grad is not None]
            if trained and not any(id(p) in known for p in model.parameters()):
                name = self.run.facts.name_of(model)
                return f"no parameter of the optimizer gets a gradient, but those of {name} do"
        return None
