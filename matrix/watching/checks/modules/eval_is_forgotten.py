from __future__ import annotations

from typing import Any

import torch
from torch import nn

from ...check import Check
from ...events import Call


class EvalIsForgotten(Check):
    level = "warning"
    change = "Call model.eval() before the evaluation"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._calls = 0  # without gradients, in train mode, since the last step

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        self._calls = 0
        return None

    def called(self, call: Call) -> str | None:
        if call.parents or call.grad or not call.module.training:
            return None
        for module in call.module.modules():
            if isinstance(module, nn.modules.dropout._DropoutNd) and module.p and module.training:
                self._calls += 1
                if self._calls == 2:  # a single call may be that of a GAN
                    name = self.run.facts.name_of(module)
                    return f"the model predicts without gradients, but {name} is in train mode"
                break
        return None
