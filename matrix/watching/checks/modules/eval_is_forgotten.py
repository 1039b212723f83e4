from __future__ import annotations

import sys
import weakref
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
        self._input: Any = None  # a weak reference to the input of the last call

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        self._calls = 0
        return None

    def called(self, call: Call) -> str | None:
        if call.parents or call.grad or not call.module.training or _is_called_by_torch():
            return None
        last, self._input = self._input, None
        if isinstance(call.input, torch.Tensor):
            if last and last() is call.input:  # samples of the uncertainty of one input
                self._calls = 0
            self._input = weakref.ref(call.input)
        parameters = [*call.module.parameters()]
        if self.run.facts.gradients and not self.run.facts.optimizers_of(parameters):
            return None  # a teacher may drop out on purpose
        for module in call.module.modules():
            if isinstance(module, nn.modules.dropout._DropoutNd) and module.p and module.training:
                self._calls += 1
                if self._calls == 2:  # a single call may be that of a GAN
                    name = self.run.facts.name_of(module)
                    return f"the model predicts without gradients, but {name} is in train mode"
                break
        return None


def _is_called_by_torch() -> bool:
    """True if checkpoint() or update_bn() calls the model."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__") in ("torch.utils.checkpoint", "torch.optim.swa_utils"):
            return True
        frame = frame.f_back
    return False
