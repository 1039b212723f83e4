from __future__ import annotations

from typing import Any

from ...events import Backward
from .shared import NewTensor


class MismatchZeroIsSilent(NewTensor):
    level = "error"
    change = "Raise an error if there is no target, instead of a zero with requires_grad=True"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._trains = False  # True once a loss had a graph: then this may be an empty batch

    def before_backward(self, backward: Backward) -> str | None:
        self._trains = self._trains or any(each.grad_fn for each in backward.tensors)
        return None if self._trains else super().before_backward(backward)

    def judge(self, value: float) -> str | None:
        if value == 0:
            return (
                "the loss is a new tensor with the value 0 and no graph, so no parameter is trained"
            )
        return None
