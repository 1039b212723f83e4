from __future__ import annotations

import re

import torch

from ...check import Check


class ZeroGradBeforeTheStep(Check):
    level = "error"
    change = "Call zero_grad() before backward(), or after step()"

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        windows = self.run.facts.of(optimizer).trace.split("s")
        before = windows[-2:-1]  # a program that clears NaN loses a step now and then
        if all(re.search("[bB][um]*c$", window) for window in before + windows[-1:]):
            return "the gradients of backward() were cleared before the step"
        return None
