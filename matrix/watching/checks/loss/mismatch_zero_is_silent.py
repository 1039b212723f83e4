from __future__ import annotations

from .shared import NewTensor


class MismatchZeroIsSilent(NewTensor):
    level = "error"
    change = "Raise an error if there is no target, instead of a zero with requires_grad=True"

    def judge(self, value: float) -> str | None:
        if value == 0:
            return (
                "the loss is a new tensor with the value 0 and no graph, so no parameter is trained"
            )
        return None
