from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ...check import Check
from ...events import Call


class InitOverwritesLoadedWeights(Check):
    level = "error"
    change = "Load the weights after the initialization"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._versions: dict[str, tuple[Any, int]] = {}  # some parameters, until they are used
        self._place = ("", 0)

    def loaded(self, module: nn.Module, state: Any, result: Any) -> str | None:
        self._place = self.run.place()
        self._versions = {
            name: (parameter, parameter._version)
            for name, parameter in list(module.named_parameters())[:20]
            if name in state
        }
        return None

    def called(self, call: Call) -> str | None:
        return self.ended() if self._versions else None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        return self.ended() if self._versions else None

    def ended(self) -> str | None:
        versions, self._versions = self._versions, {}
        moved = [name for name, (p, version) in versions.items() if p._version > version]
        if len(moved) >= max(2, len(versions) / 2):
            self.run.report(self, f"{moved[0]} was changed after load_state_dict()", self._place)
        return None
