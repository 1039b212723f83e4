from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Backward
from ...run import Run


class SampleStopsTheGradient(Check):
    level = "warning"
    change = "Call rsample() instead of sample()"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.scored = False  # True once log_prob() was called: a policy gradient needs no rsample()
        self.drawn_from = ""
        self.leaves: list[Any] = []  # weak references to the leaves of what was drawn from

    def drawn(self, name: str, distribution: Any, value: Any) -> str | None:
        if name == "log_prob":
            self.scored = True
        elif distribution.has_rsample and not self.scored:
            graph = Backward([v for v in vars(distribution).values() if is_trained(v)])
            if graph.tensors:
                graph.read_graph()
                self.drawn_from = type(distribution).__name__
                self.leaves = [weakref.ref(leaf) for leaf in graph.leaves]
        return None

    def before_backward(self, backward: Backward) -> str | None:
        leaves = {id(leaf()) for leaf in self.leaves if leaf() is not None}
        self.leaves = []
        if not self.scored and any(id(leaf) in leaves for leaf in backward.leaves):
            return (
                f"sample() of {self.drawn_from} passes no gradient to its parameters, so only"
                " other terms of the loss train them"
            )
        return None


def is_trained(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad
