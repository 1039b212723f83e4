from __future__ import annotations

import re

import torch

from ...check import Check


class MissingZeroGrad(Check):
    level = "error"
    change = "Call optimizer.zero_grad() before each backward(), or after each step"

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        trace = self.run.facts.of(optimizer).trace
        if re.search("[bB][^cms]*s[^cms]*[bB][^cms]*s[^cms]*[bB][^cms]*$", trace):
            return "the gradients still contain those of the two previous steps"
        return None
