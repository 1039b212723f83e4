from __future__ import annotations

import re
from functools import partial
from typing import Any

import torch

from ...check import Check
from ...events import Backward
from ...facts import parameters

READ = 8  # gradients that are read


class MissingZeroGrad(Check):
    level = "error"
    change = "Call optimizer.zero_grad() before each backward(), or after each step"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._zeros: set[int] = set()  # optimizers whose gradients were cleared through .data

    def before_backward(self, backward: Backward) -> str | None:
        for optimizer in self.run.facts.optimizers() if self.run.sampled else ():
            gradients = self.run.facts.of(optimizer)
            if gradients.steps and not gradients.since_step.strip("o"):
                own = [p.grad for p in parameters(optimizer) if p.grad is not None][:READ]
                counts = [(each != 0).sum() for each in own if each.layout == torch.strided]
                if counts:
                    self.ask(torch.stack(counts).sum(), partial(self._judge, id(optimizer)))
        return None

    def _judge(self, key: int, count: float) -> None:
        (self._zeros.discard if count else self._zeros.add)(key)

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        trace = self.run.facts.of(optimizer).trace
        if id(optimizer) in self._zeros:
            return None
        if re.search("[bB][^cms]*s[^cms]*[bB][^cms]*s[^cms]*[bB][^cms]*$", trace):
            return "the gradients still contain those of the two previous steps"
        return None
