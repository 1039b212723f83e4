from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...run import Run


class OptimizerStateStaysNan(Check):
    level = "error"
    change = "Restore the state of the optimizer together with the weights"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.restored: list[int] = []  # the ids of optimizers whose weights alone were loaded

    def loaded(self, module: torch.nn.Module, state: Any, result: Any) -> str | None:
        optimizers = self.run.facts.optimizers_of(list(module.parameters()))
        self.restored = [id(each) for each in optimizers if each.state]
        return None

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, state: Any, before: Any
    ) -> str | None:
        self.restored = [each for each in self.restored if each != id(optimizer)]
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if id(optimizer) in self.restored:
            self.restored.remove(id(optimizer))
            for parameter, state in optimizer.state.items():
                for name, value in state.items():
                    if isinstance(value, torch.Tensor) and value.shape == parameter.shape:
                        whose = self.run.facts.name_of(parameter)
                        self._ask(parameter, value, f"{name} of {whose}")
        return None

    def _ask(self, parameter: torch.Tensor, value: torch.Tensor, name: str) -> None:
        self.ask(
            value.isnan().any() & parameter.isfinite().all(),
            lambda nan: (
                f"the weights were restored, but {name} in the optimizer is NaN" if nan else None
            ),
        )
