"""What a check is told about an event. These objects are valid during the event only."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch

NODES = 20_000  # nodes of a graph that are read; a larger graph is read up to this number


@dataclass
class Backward:
    """A call of backward().

    `tensors` are those that backward() was called on. `nodes` and `leaves` are empty if the step is
    not sampled.
    """

    tensors: list[torch.Tensor]
    scaled: bool = False  # True if a GradScaler has scaled all tensors
    nodes: list[Any] = field(default_factory=list)  # nodes of the graph, from the loss on
    leaves: list[torch.Tensor] = field(default_factory=list)  # leaves that will get a gradient
    complete: bool = False  # True if the whole graph was read

    def read_graph(self) -> None:
        """Reads the graph, but not the values that are saved in it for backward()."""
        todo = [tensor.grad_fn for tensor in self.tensors if tensor.grad_fn is not None]
        self.leaves = [each for each in self.tensors if each.grad_fn is None and each.requires_grad]
        seen = {*todo}
        while todo and len(self.nodes) < NODES:
            node = todo.pop()
            self.nodes.append(node)
            variable = getattr(node, "variable", None)  # of AccumulateGrad
            if variable is not None:
                self.leaves.append(variable)
            for after, _ in node.next_functions:
                if after is not None and after not in seen:
                    seen.add(after)
                    todo.append(after)
        self.complete = not todo

    def named(self, *names: str) -> Iterator[Any]:
        """The nodes with one of these names, such as "SoftmaxBackward", without a number."""
        for node in self.nodes:
            if node_name(node) in names:
                yield node


@dataclass
class Call:
    """A call of a module that has returned."""

    module: torch.nn.Module
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any
    parents: tuple[torch.nn.Module, ...]  # the modules whose forward() contains this call
    grad: bool  # True if gradients were recorded

    @property
    def input(self) -> Any:
        """The first argument."""
        return self.args[0] if self.args else next(iter(self.kwargs.values()), None)


@dataclass
class Function:
    """A call of a function of torch.nn.functional that has returned."""

    name: str
    arguments: dict[str, Any]  # by name, with defaults
    output: Any
    parents: tuple[torch.nn.Module, ...]  # the modules whose forward() contains this call
    grad: bool  # True if gradients were recorded
    given: frozenset[str] = frozenset()  # the names of the arguments that the program passed


@dataclass
class Clip:
    """A call of clip_grad_norm_() or clip_grad_value_()."""

    name: str
    parameters: list[torch.Tensor]
    bound: Any  # max_norm or clip_value
    exhausted: bool  # True if the program passed an iterator without any element left
    result: Any = None  # the norm, after the call


@dataclass
class Batches:
    """An iterator over a DataLoader."""

    loader: Any
    number: int  # 1 for the first iterator over this loader, and so on
    step: int  # the step of the run in which it was created
    count: int = 0  # batches that it has returned
    ended: bool = False
    notes: dict[str, Any] = field(default_factory=dict)  # for checks, by their own keys


def node_name(node: Any) -> str:
    """The name of a node of a graph without its number, such as "SoftmaxBackward"."""
    name: str = node.name().split("::")[-1]
    return name.rstrip("0123456789")


def version(tensor: torch.Tensor) -> int:
    """How often the tensor was changed in place; 0 in inference mode, which does not count it."""
    return 0 if tensor.is_inference() else tensor._version


def tensors(value: Any, depth: int = 4, width: int = 100) -> Iterator[torch.Tensor]:
    """The tensors in nested lists, tuples and dictionaries."""
    if isinstance(value, torch.Tensor):
        yield value
    elif depth and isinstance(value, dict):
        for each in value.values():
            yield from tensors(each, depth - 1, width)
    elif depth and isinstance(value, (list, tuple)):
        for each in value[:width]:
            yield from tensors(each, depth - 1, width)
