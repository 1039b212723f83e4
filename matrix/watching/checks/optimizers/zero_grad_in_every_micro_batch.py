from __future__ import annotations

import re

import torch

from ...check import Check


class ZeroGradInEveryMicroBatch(Check):
    level = "error"
    change = "Call zero_grad() once per step, before the first of its backward() calls"

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        windows = self.run.facts.of(optimizer).trace.split("s")
        if "o" in "".join(windows[-2:]):
            return None
        lost = [len(re.findall("[bB][um]*c(?=[um]*[bB])", window)) for window in windows]
        before = lost[-3:-1]  # a program that skips a batch with NaN loses one now and then
        if lost[-1] >= (1 if before else 3) and all(before):
            return "zero_grad() clears the gradients of all but the last backward() before the step"
        return None
