from __future__ import annotations

from functools import partial

import torch
from torch import nn

from ...check import Check
from ...facts import parameters


class AdamMovesAbsentRows(Check):
    level = "note"
    change = "Use SparseAdam with sparse=True, or accept that rows move after their last gradient"

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        own = {id(p) for p in parameters(optimizer)}
        for model in self.run.facts.models():
            for module in model.modules():
                if not isinstance(module, nn.Embedding) or id(module.weight) not in own:
                    continue
                momentum = optimizer.state.get(module.weight, {}).get("exp_avg")
                gradient = module.weight.grad
                if momentum is None or gradient is None or gradient.is_sparse:
                    continue
                moved = (gradient.abs().sum(1) == 0) & (momentum.abs().sum(1) > 0)
                name = self.run.facts.name_of(module)
                self.ask(moved.sum(), partial(_judge, name))
        return None


def _judge(name: str, count: float) -> str | None:
    return f"{count:.0f} rows of {name} get no gradient in this step, but move" if count else None
