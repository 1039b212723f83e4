"""What several checks of numbers need: patterns in a graph, and NaN in what it computes."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch

from ...check import Check
from ...events import Backward, Function, node_name
from ..loss.shared import SHAPES

HIDING = ("MaskedFillBackward", "NanToNumBackward", "WhereBackward", "SWhereBackward")
SINGULAR = (
    "AcosBackward",
    "AsinBackward",
    "Log10Backward",
    "Log1PBackward",
    "Log2Backward",
    "LogBackward",
    "ReciprocalBackward",
    "RsqrtBackward",
    "SqrtBackward",
)
PRODUCTS = (
    "AddmmBackward",
    "BmmBackward",
    "ConvolutionBackward",
    "LinearBackward",
    "MmBackward",
    "MvBackward",
)


def is_readable(value: Any) -> bool:
    """True for a tensor of floating-point numbers that is not sparse."""
    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.layout == torch.strided
        and value.numel() > 0
    )


def operand(node: Any, index: int) -> Any:
    """The node of an operand, without operations that only reshape it, or None for a constant."""
    if node is None or index >= len(node.next_functions):
        return None
    found = node.next_functions[index][0]
    while found is not None and node_name(found) in SHAPES:
        found = found.next_functions[0][0]
    return found


def name(node: Any) -> str:
    return "" if node is None else node_name(node)


def inputs_of(node: Any, depth: int) -> Iterator[Any]:
    """The nodes that lead to this node, up to a depth."""
    todo, seen = [(node, 0)], {node}
    while todo:
        current, level = todo.pop()
        for each, _ in current.next_functions:
            if each is not None and each not in seen and level < depth:
                seen.add(each)
                yield each
                todo.append((each, level + 1))


def is_root(node: Any) -> bool:
    """True if the node computes a square root."""
    kind = node_name(node)
    return kind == "SqrtBackward" or (
        kind == "PowBackward" and getattr(node, "_saved_exponent", None) == 0.5
    )


def is_singular(node: Any) -> bool:
    """True if the derivative of the operation is infinite for some numbers."""
    kind = node_name(node)
    if kind == "DivBackward":
        return operand(node, 1) is not None  # not a division by a constant
    if kind == "PowBackward":
        exponent = getattr(node, "_saved_exponent", None)
        return isinstance(exponent, (int, float)) and exponent < 1
    return kind in SINGULAR


class NanGradient(Check):
    """A gradient is NaN although the loss is finite, and cause() finds the cause in the graph."""

    level = "error"
    message = ""  # with a place for the name of the parameter

    def cause(self, backward: Backward) -> bool:
        """True if the graph has the operations that lead to this failure."""
        raise NotImplementedError

    def before_backward(self, backward: Backward) -> str | None:
        self._has_cause = bool(backward.nodes) and not backward.scaled and self.cause(backward)
        return None

    def after_backward(self, backward: Backward) -> str | None:
        if getattr(self, "_has_cause", False):
            gradients = [leaf.grad for leaf in backward.leaves]
            self._ask(backward.tensors, backward.leaves, gradients)
        return None

    def after_grad(
        self, backward: Backward, inputs: list[torch.Tensor], gradients: list[Any]
    ) -> str | None:
        if not any(map(self.run.facts.is_scaled, backward.tensors)) and self.cause(backward):
            self._ask(backward.tensors, inputs, gradients)
        return None

    def _ask(
        self, losses: list[torch.Tensor], leaves: list[torch.Tensor], found: list[Any]
    ) -> None:
        device = losses[0].device
        pairs = [
            (weakref.ref(leaf), gradient.detach().sum())
            for leaf, gradient in zip(leaves, found)
            if gradient is not None
            and gradient.device == device
            and gradient.is_floating_point()
            and not gradient.is_sparse
        ]
        if pairs:
            parts = [each.detach().sum() for each in losses if each.device == device]
            numbers = [torch.stack(parts).sum(), *(total for _, total in pairs)]
            references = [reference for reference, _ in pairs]
            wide = [number.double() if device.type != "mps" else number for number in numbers]
            self.ask(torch.stack(wide), lambda values: self._judge(values, references))

    def _judge(self, values: list[float], references: list[Any]) -> str | None:
        loss, totals = values[0], values[1:]
        if loss - loss == 0:  # finite
            for total, reference in zip(totals, references):
                if total != total:
                    leaf = reference()
                    part = "a tensor" if leaf is None else self.run.facts.name_of(leaf)
                    return self.message.format(part)
        return None


class NanResult(Check):
    """A loss is NaN, or a tensor that the program passes to isnan(), and cause() knows why."""

    level = "error"
    message = ""

    def cause(self, node: Any) -> bool:
        """True if the operation of this node leads to the failure."""
        raise NotImplementedError

    def before_backward(self, backward: Backward) -> str | None:
        if any(self.cause(node) for node in backward.nodes):
            self._ask(backward.tensors[0])
        return None

    def method(self, method: Function) -> str | None:
        if method.name in ("isnan", "isfinite"):
            tested = method.arguments["input"]
            if tested.grad_fn is not None:
                backward = Backward([tested])
                backward.read_graph()
                if any(self.cause(node) for node in backward.nodes):
                    self._ask(tested)
        return None

    def _ask(self, value: torch.Tensor) -> None:
        self.ask(value.detach().isnan().any(), lambda nan: self.message if nan else None)
