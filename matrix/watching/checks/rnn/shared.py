from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...events import Call, Function, node_name


class BatchFirst(Check):
    """A layer without batch_first whose first dimension is the batch. A base class."""

    kinds: tuple[Any, ...] = ()

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._shape: tuple[int, int] | None = None  # the first dimensions of the layer's input
        self._name = ""

    def called(self, call: Call) -> str | None:
        if isinstance(call.module, self.kinds) and isinstance(call.input, torch.Tensor):
            if call.input.dim() == 3 and not self.is_batch_first(call.module):
                self._shape = call.input.shape[0], call.input.shape[1]
                self._name = self.run.facts.name_of(call.module)
        return None

    def function(self, function: Function) -> str | None:
        target = function.arguments.get("target")
        if self._shape is None or not isinstance(target, torch.Tensor):
            return None
        (first, second), self._shape = self._shape, None
        rows = target.dim() == 1 or (target.dim() == 2 and target.shape[1] == 1)
        if rows and len(target) == first != second:
            return (
                f"{self._name} takes the first dimension of ({first}, {second}, ...) for time, "
                f"but the loss has {first} rows"
            )
        return None

    def is_batch_first(self, module: Any) -> bool:
        return bool(module.batch_first)


def source(select: Any) -> Any:
    """The node of the tensor that a step was selected from: old releases also slice."""
    node = select.next_functions[0][0]
    while node is not None and node_name(node) == "SliceBackward":
        node = node.next_functions[0][0]
    return node
