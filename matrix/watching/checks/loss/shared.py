"""What several checks of losses need."""

from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...events import Backward, node_name

SHAPES = {
    "AliasBackward",
    "CloneBackward",
    "ExpandBackward",
    "PermuteBackward",
    "ReshapeAliasBackward",
    "SelectBackward",
    "SliceBackward",
    "SqueezeBackward",
    "ToCopyBackward",
    "TransposeBackward",
    "UnsafeViewBackward",
    "UnsqueezeBackward",
    "ViewBackward",
}
VIEWS = {"ReshapeAliasBackward", "UnsafeViewBackward", "ViewBackward"}


def origin(value: Any, through: set[str] = SHAPES) -> str:
    """The name of the operation that has computed a tensor, without those that only reshape it."""
    node = origin_node(getattr(value, "grad_fn", None), through)
    return "" if node is None else node_name(node)


def origin_node(node: Any, through: set[str] = SHAPES) -> Any:
    """The first node from this node on that does more than reshape."""
    while node is not None and node_name(node) in through:
        node = node.next_functions[0][0]
    return node


def class_dimension(logits: torch.Tensor) -> int:
    """The dimension that cross_entropy() and nll_loss() take for the classes."""
    return 1 if logits.dim() > 1 else 0


def range_and_sums(values: torch.Tensor, dim: int) -> torch.Tensor:
    """The least and the greatest value, and the least and the greatest sum over a dimension."""
    values = values.float()
    sums = values.sum(dim)
    return torch.stack([values.amin(), values.amax(), sums.amin(), sums.amax()])


def are_probabilities(numbers: list[float]) -> bool:
    """True if range_and_sums() shows values from 0 to 1 that add up to 1."""
    low, high, least, greatest = numbers
    return low >= 0 and high <= 1.001 and abs(least - 1) < 0.01 and abs(greatest - 1) < 0.01


def can_be_probabilities(value: Any, dim: int = -1) -> bool:
    """True if the tensor has at least two classes, without a look at its values."""
    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.dim() > 0
        and value.numel() > 0
        and value.shape[dim] > 1
    )


class NewTensor(Check):
    """backward() of a single number that no operation has computed. A base class."""

    def before_backward(self, backward: Backward) -> str | None:
        if len(backward.tensors) == 1:
            (loss,) = backward.tensors
            if loss.numel() == 1 and loss.grad_fn is None and loss.requires_grad:
                if not self.run.facts.optimizers_of([loss]):
                    self.ask(loss, self.judge)
        return None

    def judge(self, value: float) -> str | None:
        """What is wrong with a loss of this value."""
        raise NotImplementedError
