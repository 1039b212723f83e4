from __future__ import annotations

import math

import torch

from ...check import Check
from ...events import Call, node_name
from ...run import Run
from .shared import is_readable

LARGE = 10  # of an input
UNITS = 8  # per row; a few units may be off by chance
RELU = "ReluBackward"


class UnscaledFeaturesKillEveryRelu(Check):
    level = "error"
    change = "Standardize the columns of the input"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.largest = 0.0  # absolute value in the input of the model
        self.dead: dict[str, int] = {}  # how often no unit was active, by module

    def called(self, call: Call) -> str | None:
        value = call.input
        if not call.grad or not is_readable(value):
            return None
        if not call.parents and value.grad_fn is None:
            self.ask(value.abs().amax(), self._remember)
        node = value.grad_fn
        after = isinstance(call.module, torch.nn.Linear) and node and node_name(node) == RELU
        before = isinstance(call.module, torch.nn.ReLU)
        if (before or after) and value.dim() and value.numel() >= UNITS * len(value) > UNITS:
            name, rows = self.run.facts.name_of(call.module), len(value)
            self.ask(value.amax(), lambda largest: self._judge(name, rows, largest))
        return None

    def _remember(self, value: float) -> None:
        self.largest = max(self.largest, value)

    def _judge(self, name: str, rows: int, largest: float) -> str | None:
        self.dead[name] = self.dead.get(name, 0) + 1 if largest <= 0 else 0
        if self.dead[name] == 2 and LARGE < self.largest < math.inf:
            return (
                f"no unit of the ReLU at {name} is active for any of {rows} rows, and the inputs"
                f" are as large as {self.largest:.3g}"
            )
        return None
