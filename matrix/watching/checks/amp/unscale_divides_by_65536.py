from __future__ import annotations

from typing import Any

import torch

from ...check import Check


class UnscaleDividesBy65536(Check):
    level = "error"
    change = "Pass each loss to scaler.scale()"

    def unscaled(self, scaler: Any, optimizer: torch.optim.Optimizer) -> str | None:
        return self._mixed(optimizer)

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        return self._mixed(optimizer)

    def _mixed(self, optimizer: torch.optim.Optimizer) -> str | None:
        window = self.run.facts.of(optimizer).since_step.partition("u")[0].rpartition("c")[2]
        if "b" in window and "B" in window:
            return "the gradients come from a scaled loss and from a loss that was not scaled"
        return None
