from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Backward, Batches, Function
from ...run import Run


class LossOfTheLastBatchOnly(Check):
    level = "error"
    change = (
        "Weight the loss of each batch by its number of rows, and divide the sum by the total "
        "number of rows"
    )

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.losses: list[Any] = []  # weak references to the losses of the current loop
        self.last: Any = None  # the last loss of a loop that has ended
        self.count = 0
        self.usable = False  # False if a loss was read or differentiated

    def loader_started(self, batches: Batches) -> str | None:
        self.losses, self.last, self.usable = [], None, True
        return None

    def function(self, function: Function) -> str | None:
        output = function.output
        if self.usable and isinstance(output, torch.Tensor) and output.numel() == 1:
            self.losses.append(weakref.ref(output))
        return None

    def before_backward(self, backward: Backward) -> str | None:
        self.usable = False
        return None

    def differentiated(
        self, outputs: list[torch.Tensor], inputs: list[torch.Tensor], create_graph: bool
    ) -> str | None:
        self.usable = False
        return None

    def loader_ended(self, batches: Batches) -> str | None:
        if self.usable and len(self.losses) == batches.count > 1:
            self.last, self.count = self.losses[-1], batches.count
            if any(each() is not None for each in self.losses[:-1]):
                self.last = None  # the program keeps them
        self.usable = False
        return None

    def method(self, method: Function) -> str | None:
        if method.name == "item":
            own = method.arguments["input"]
            if self.last is not None and self.last() is own:
                self.last = None
                return f"of {self.count} batches, only the loss of the last batch is read"
            if any(each() is own for each in self.losses[-1:]):
                self.usable = False
        return None
