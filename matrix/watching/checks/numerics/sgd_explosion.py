from __future__ import annotations

import math

import torch

from ...check import Check
from ...events import Backward, Call
from ...run import Run
from .shared import is_readable

LARGE = 20  # of an input


class SgdExplosion(Check):
    level = "error"
    change = "Standardize the columns of the input and the target, or lower the learning rate"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.largest = 0.0  # absolute value in the input of the model
        self.losses: list[float] = []
        self.rate = 0.0  # of SGD
        self.step = 0  # of the last backward(): only the first loss of each step is compared

    def called(self, call: Call) -> str | None:
        value = call.input
        if not call.parents and call.grad and is_readable(value) and value.grad_fn is None:
            self.ask(value.abs().amax(), self._remember)
        return None

    def before_backward(self, backward: Backward) -> str | None:
        first, self.step = self.step != self.run.step, self.run.step
        if backward.nodes and self.rate and not backward.scaled and first:
            self.ask(backward.tensors[0].sum(), self._judge)
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if isinstance(optimizer, torch.optim.SGD):
            self.rate = float(optimizer.param_groups[0].get("lr", 0))
        return None

    def _remember(self, value: float) -> None:
        if value < math.inf:
            self.largest = max(self.largest, value)

    def _judge(self, loss: float) -> str | None:
        self.losses = [*self.losses[-2:], loss]
        if len(self.losses) < 3 or self.largest < LARGE or self.losses[0] <= 0:
            return None
        first, second, third = self.losses
        if second > 4 * first and third > 4 * second and third > 100 * first:
            return (
                f"SGD with lr={self.rate:g} took the loss from {first:.3g} to {third:.3g}, with"
                f" inputs as large as {self.largest:.3g}"
            )
        return None
