from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import nn

from ...check import Check
from ...events import Call
from ...facts import parameters


class PredictLeavesEvalMode(Check):
    level = "error"
    change = "Call model.train() after the prediction"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._trained: Any = weakref.WeakSet()  # models that have been called in train mode
        self._model: Any = None  # a model that was called in eval mode, to train it

    def called(self, call: Call) -> str | None:
        model = call.module
        if call.parents or not call.grad or not _depends(model):
            return None
        if model.training:
            self._trained.add(model)
        elif model in self._trained:
            self._model = weakref.ref(model)
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        model = self._model() if self._model else None
        self._model = None
        if model is None or model.training:
            return None
        own = {id(p) for p in parameters(optimizer)}
        if any(p.grad is not None and id(p) in own for p in model.parameters()):
            name = self.run.facts.name_of(model)
            return f"{name} has been training in eval mode since the last prediction"
        return None


def _depends(model: nn.Module) -> bool:
    """True if the model computes something else in eval mode."""
    norms = nn.modules.batchnorm._BatchNorm
    return any(
        isinstance(part, norms) or getattr(part, "p", 0) or getattr(part, "dropout", 0)
        for part in model.modules()
        if isinstance(part, (norms, nn.modules.dropout._DropoutNd, nn.RNNBase))
    )
