from __future__ import annotations

import math
import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Backward, Function
from ...run import Run


class IsnanMissesInf(Check):
    level = "error"
    change = "Call isfinite() on the gradients, because isnan() is False for an infinite value"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.tested: list[Any] = []  # weak references to what isnan() was called with
        self.losses: list[Any] = []  # and backward()

    def method(self, method: Function) -> str | None:
        own = method.arguments["input"]
        if method.name == "isnan" and own.numel() == 1 and not method.parents:
            self.tested = [*self.tested[-3:], weakref.ref(own)]
        return None

    def before_backward(self, backward: Backward) -> str | None:
        if not backward.scaled:
            self.losses = [*self.losses[-3:], *map(weakref.ref, backward.tensors)]
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        tested = {id(each()) for each in self.tested if each() is not None}
        for reference in self.losses:
            loss = reference()
            if loss is not None and id(loss) in tested:
                self.ask(loss, self._judge)
        self.tested, self.losses = [], []
        return None

    def _judge(self, loss: float) -> str | None:
        if math.isinf(loss):
            return f"isnan() has let a loss of {loss} pass, and the optimizer takes a step"
        return None
