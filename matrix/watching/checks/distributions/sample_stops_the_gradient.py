from __future__ import annotations

import itertools
import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Backward, node_name
from ...run import Run

_OTHERS = itertools.count(-1, -1)


class SampleStopsTheGradient(Check):
    level = "warning"
    change = "Call rsample() instead of sample()"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.scored = False  # True once the program has called log_prob(), or rsample() itself
        self.drawn_from = ""
        self.leaves: list[Any] = []  # weak references to the leaves of what was drawn from
        self.nodes: set[int] = set()  # the numbers of its other nodes

    def drawn(self, name: str, distribution: Any, value: Any) -> str | None:
        if name == "log_prob" or (name == "rsample" and value.requires_grad):
            self.scored = True
        elif name == "sample" and distribution.has_rsample and not self.scored:
            graph = Backward([v for v in vars(distribution).values() if is_trained(v)])
            if graph.tensors:
                graph.read_graph()
                self.drawn_from = type(distribution).__name__
                self.leaves = [weakref.ref(leaf) for leaf in graph.leaves]
                self.nodes = numbers(graph)
        return None

    def before_backward(self, backward: Backward) -> str | None:
        leaves = {id(leaf()) for leaf in self.leaves if leaf() is not None}
        self.leaves = []
        if self.nodes and self.nodes.isdisjoint(numbers(backward)):
            return None  # a loss of another forward pass, such as that of DDPG
        if not self.scored and any(id(leaf) in leaves for leaf in backward.leaves):
            return (
                f"sample() of {self.drawn_from} passes no gradient to its parameters, so only"
                " other terms of the loss train them"
            )
        return None


def is_trained(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.requires_grad


def numbers(graph: Backward) -> set[int]:
    """The numbers of the nodes that only one forward pass has."""
    own = [node for node in graph.nodes if node.next_functions]
    return {_number(node) for node in own if node_name(node) != "ExpandBackward"}


def _number(node: Any) -> int:
    if hasattr(node, "_sequence_nr"):
        number: int = node._sequence_nr()
        return number
    return next(_OTHERS)  # before torch 2.1, nothing tells that two nodes are the same
