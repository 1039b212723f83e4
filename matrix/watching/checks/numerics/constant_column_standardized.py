from __future__ import annotations

from ...check import Check
from ...events import Call, Function, tensors
from ...run import Run
from .shared import is_readable


class ConstantColumnStandardized(Check):
    level = "error"
    change = "Replace a standard deviation of 0 by 1"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.computes = False  # True once the program has computed deviations of columns
        self.constant = 0  # columns with a deviation of 0

    def method(self, method: Function) -> str | None:
        if method.name == "std" and method.output.numel() > 1 and not method.parents:
            self.computes = True
            self.ask((method.output == 0).sum(), self._remember)
        return None

    def called(self, call: Call) -> str | None:
        if self.computes and not call.parents:
            for value in tensors(call.args):
                if is_readable(value):
                    self.ask(value.isfinite().all(), self._judge)
                    break
        return None

    def _remember(self, count: float) -> None:
        self.constant = int(count) or self.constant

    def _judge(self, finite: float) -> str | None:
        if self.constant and not finite:
            return (
                f"std() of {self.constant} columns was 0, and the input of the model is not finite"
            )
        return None
