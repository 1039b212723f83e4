from __future__ import annotations

import re

import torch

from ...check import Check


class ZeroGradBeforeTheStep(Check):
    level = "error"
    change = "Call zero_grad() before backward(), or after step()"

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if re.search("[bB][um]*c$", self.run.facts.of(optimizer).since_step):
            return "the gradients of backward() were cleared before the step"
        return None
