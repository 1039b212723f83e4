from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...facts import parameters


class BothLoraFactorsAreZero(Check):
    level = "error"
    change = "Initialize one of the two factors with random numbers"

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        dead = [p for p in parameters(optimizer) if p.grad is not None and p.dim() == 2]
        if self.run.step > 3 or not dead:
            return None
        sizes = torch.stack([p.abs().max() + p.grad.to_dense().abs().max() for p in dead])
        names = [self.run.facts.name_of(p) for p in dead]

        def judge(values: Any) -> str | None:
            found = [
                n for n, value in zip(names, [values] if len(names) == 1 else values) if value == 0
            ]
            if len(found) > 1:
                return f"{found[0]} and {found[1]} are zero, and so are their gradients"
            return None

        self.ask(sizes, judge)
        return None
