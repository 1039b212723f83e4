from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import torch

from ...check import Check
from ...facts import parameters


class BothLoraFactorsAreZero(Check):
    level = "error"
    change = "Initialize one of the two factors with random numbers"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._dead: list[tuple[str, Any]] = []  # names and shapes

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        # A gate behind a head of zeros has no gradient in the first step, or two with a warmup.
        if self.run.step == 3:
            self._dead = []
            for p in parameters(optimizer):
                if p.grad is not None and p.dim() == 2 and not p.grad.is_sparse:
                    self.ask(p.any() | p.grad.any(), partial(self._judge, weakref.ref(p)))
        return None

    def _judge(self, reference: Any, alive: float) -> str | None:
        parameter = reference()
        if alive or parameter is None:
            return None
        for name, shape in self._dead:
            if len(parameter) == shape[1] or parameter.shape[1] == shape[0]:
                other = self.run.facts.name_of(parameter)
                return f"{name} and {other} are zero, and so are their gradients"
        self._dead.append((self.run.facts.name_of(parameter), parameter.shape))
        return None
