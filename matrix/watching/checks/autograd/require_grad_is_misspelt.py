from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...facts import parameters

MISSPELT = ("require_grad", "require_grads", "required_grad", "requires_grads", "requiers_grad")


class RequireGradIsMisspelt(Check):
    level = "error"
    change = "Call module.requires_grad_(False), because torch never reads this attribute"

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        for parameter in parameters(optimizer):
            for name, value in getattr(parameter, "__dict__", {}).items():
                if name in MISSPELT and value is False and parameter.requires_grad:
                    return self._message(parameter, name)
        for model in self.run.facts.models():
            for module in model.modules():
                for name in ("requires_grad", *MISSPELT):
                    if vars(module).get(name) is False and self._learns(module):
                        return self._message(module, name)
        return None

    def _learns(self, module: torch.nn.Module) -> bool:
        return any(parameter.requires_grad for parameter in module.parameters())

    def _message(self, part: Any, name: str) -> str:
        return f"{self.run.facts.name_of(part)} has an attribute {name}, and is still trained"
