from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Function
from ...run import Run


class ActionIsSquashedTwice(Check):
    level = "error"
    change = "Compute the correction from the action itself: log(1 - action.square())"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        # Weak references to the arguments and the results of tanh(), and to what log_prob() got.
        self.squashed: list[tuple[Any, Any]] = []
        self.scored: Any = None

    def method(self, method: Function) -> str | None:
        if method.name == "tanh":
            own = method.arguments["input"]
            for before, after in self.squashed:
                if after() is own and self.scored and self.scored() is before() is not None:
                    return (
                        "tanh() gets an action that is already the tanh() of the argument of "
                        "log_prob()"
                    )
            self.squashed = [*self.squashed[-7:], (weakref.ref(own), weakref.ref(method.output))]
        return None

    def drawn(self, name: str, distribution: Any, value: Any) -> str | None:
        if name == "log_prob" and isinstance(value, torch.Tensor):
            self.scored = weakref.ref(value)
        return None
