from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Function

LOSSES = ("binary_cross_entropy", "kl_div", "nll_loss")


class SoftmaxOverTheBatch(Check):
    level = "warning"
    change = "Pass dim=-1, the dimension of the classes"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._result: Any = None  # a weak reference to the last softmax() with dim=0

    def method(self, method: Function) -> str | None:
        own, others = method.arguments["input"], method.arguments["others"]
        dim = method.arguments.get("dim", others[0] if others else None)
        if own.dim() == 2 and own.shape[1] > 1:
            if method.name in ("softmax", "log_softmax") and dim == 0:
                self._result = weakref.ref(method.output)
            elif method.name == "argmax" and dim in (1, -1):
                return self._judge(own)
        return None

    def function(self, function: Function) -> str | None:
        return self._judge(function.arguments["input"]) if function.name in LOSSES else None

    def _judge(self, probabilities: torch.Tensor) -> str | None:
        """What was seen, if the rows are used as probabilities. Attention may be over the rows."""
        if self._result is not None and self._result() is probabilities:
            return "a softmax over the batch, with dim=0, gives the probabilities of the classes"
        return None
