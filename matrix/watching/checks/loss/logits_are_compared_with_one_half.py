from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Function, version
from ...run import Run

HALF = 0.5


class LogitsAreComparedWithOneHalf(Check):
    level = "error"
    change = "Compare the logits with 0, or their sigmoid() with 0.5"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.logits: Any = None  # a weak reference to what a loss took for logits
        self.version: int | None = None  # of these logits, which may be changed in place
        self.results: list[tuple[Any, Any]] = []  # weak references to results and their tensors

    def function(self, function: Function) -> str | None:
        if function.name == "binary_cross_entropy_with_logits":
            logits = function.arguments["input"]
            self.logits = weakref.ref(logits)
            self.version = version(logits)
        return None

    def method(self, method: Function) -> str | None:
        own, others = method.arguments["input"], method.arguments["others"]
        half = bool(others) and isinstance(others[0], float) and others[0] == HALF
        if half and method.name in ("gt", "ge"):
            if own.is_floating_point() and own.numel():
                logits = self.logits() if self.logits else None
                if logits is not None and self._is_same(own, logits):
                    return "the logits of binary_cross_entropy_with_logits() are compared with 0.5"
                self.results = [*self.results[-3:], (weakref.ref(method.output), weakref.ref(own))]
        elif method.name == "eq" and others and self.logits:
            for result, compared in self.results:
                if result() is not None and any(result() is each for each in (own, others[0])):
                    self._ask(compared())
                    return None
        return None

    def _ask(self, compared: torch.Tensor | None) -> None:
        if compared is not None:
            ends = torch.stack([compared.amin(), compared.amax()])
            self.ask(ends, self._judge)

    def _judge(self, ends: list[float]) -> str | None:
        if ends[0] < 0 or ends[1] > 1:
            return f"values from {ends[0]:.3g} to {ends[1]:.3g} are compared with 0.5"
        return None

    def _is_same(self, tensor: torch.Tensor, logits: torch.Tensor) -> bool:
        """True if both have the same memory, also in another shape, and it has not changed."""
        if tensor.numel() != logits.numel() or tensor.data_ptr() != logits.data_ptr():
            return False
        return version(logits) == self.version
