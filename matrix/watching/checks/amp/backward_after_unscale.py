from __future__ import annotations

import re

import torch

from ...check import Check


class BackwardAfterUnscale(Check):
    level = "error"
    change = "Call scaler.unscale_(optimizer) after the last backward()"

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if re.search("u[^sc]*[bB]", self.run.facts.of(optimizer).since_step):
            return "backward() has added gradients after unscale_()"
        return None
