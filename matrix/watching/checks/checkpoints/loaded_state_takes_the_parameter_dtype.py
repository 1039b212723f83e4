from __future__ import annotations

from typing import Any

import torch

from ...check import Check


class LoadedStateTakesTheParameterDtype(Check):
    level = "warning"
    change = "Load the state into an optimizer of float32 parameters"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._wide: dict[
            int, tuple[str, tuple[str, int]]
        ] = {}  # by optimizer: the key, and the line

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, state: Any, before: Any
    ) -> str | None:
        for each in state.get("state", {}).values():
            for key, value in each.items():
                wide = isinstance(value, torch.Tensor) and value.dtype == torch.float32
                if wide and value.dim() > 0:
                    self._wide[id(optimizer)] = key, self.run.place()
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if id(optimizer) not in self._wide:
            return None
        key, place = self._wide.pop(id(optimizer))
        for own in optimizer.state.values():
            value = own.get(key)
            if isinstance(value, torch.Tensor) and value.dtype in (torch.bfloat16, torch.float16):
                kind = str(value.dtype).partition(".")[2]
                self.run.report(self, f"the float32 state {key} was loaded as {kind}", place)
                break
        return None
