from __future__ import annotations

import torch

from ...check import Check
from ...events import Function
from ...run import Run


class AccuracyOfAColumn(Check):
    level = "error"
    change = "Compare predictions.view_as(labels) with the labels"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.shapes = ""  # of the last comparison of a column with a row
        self.results: list[float] = []  # the mean and the sum of that comparison, in this step

    def method(self, method: Function) -> str | None:
        own, others = method.arguments["input"], method.arguments["others"]
        if own.dim() == 0:
            if self.shapes and own.dtype in (torch.float32, torch.float64, torch.int64):
                shapes = self.shapes
                self.ask(own, lambda value: self._judge(value, shapes))
        elif method.name in ("eq", "ne") and others and isinstance(others[0], torch.Tensor):
            row, column = sorted([own, others[0]], key=torch.Tensor.dim)
            rows = own.shape[0]
            both = [tuple(row.shape), tuple(column.shape)]
            base = column._base  # a row was made a column on purpose, as for a mask of pairs
            if both == [(rows,), (rows, 1)] and rows > 1 and (base is None or base.dim() != 1):
                self.shapes = f"{tuple(own.shape)} and {tuple(others[0].shape)}"
                result = method.output.double()
                self.ask(torch.stack([result.mean(), result.sum()]), self._remember)
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        self.shapes, self.results = "", []
        return None

    def _remember(self, results: list[float]) -> None:
        self.results = results

    def _judge(self, value: float, shapes: str) -> str | None:
        if value and any(abs(value - each) < 1e-6 * each for each in self.results):
            return (
                f"{value:.3g} comes from a comparison of shapes {shapes}, which compares all pairs"
            )
        return None
