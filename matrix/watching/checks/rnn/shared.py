from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Call, Function, node_name, tensors


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
        # A batch of one has a row per time.
        if rows and len(target) == first != second > 1:
            return (
                f"{self._name} treats the first dimension of ({first}, {second}, ...) as time, "
                f"but the loss has {first} rows"
            )
        return None

    def is_batch_first(self, module: Any) -> bool:
        return bool(module.batch_first)


class InputGradient(Check):
    """A gradient with respect to the input while a model is in training mode. A base class."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._calls: list[tuple[Any, Any]] = []  # weak references to inputs and models

    def called(self, call: Call) -> str | None:
        if call.grad and not call.parents and call.module.training:
            for value in tensors((call.args, call.kwargs)):
                if value.requires_grad:
                    pair = weakref.ref(value), weakref.ref(call.module)
                    self._calls = [*self._calls[-7:], pair]
        return None

    def differentiated(self, outputs: Any, inputs: Any, create_graph: bool) -> str | None:
        for value, model in () if create_graph else self._calls:
            if model() is not None and any(each is value() for each in inputs):
                for part in model().modules():
                    message = self.judge(part) if part.training else None
                    if message:
                        return message
        return None

    def judge(self, part: torch.nn.Module) -> str | None:
        """What is wrong with a part that is in training mode."""
        raise NotImplementedError


def takes_last(select: Any, output: Any, dim: int, count: int) -> bool:
    """True if a SelectBackward node takes the last of the `count` steps of the output's node."""
    index = int(select._saved_index)
    index = index - 2**64 if index >= 2**63 else index
    last = select._saved_dim in (dim, dim - 3) and index in (-1, count - 1)
    return last and source(select) is output


def source(select: Any) -> Any:
    """The node of the tensor that a step was selected from: old releases also slice."""
    node = select.next_functions[0][0]
    while node is not None and node_name(node) == "SliceBackward":
        node = node.next_functions[0][0]
    return node
