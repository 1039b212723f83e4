from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...events import Backward, Function, node_name
from ...run import Run

# The nodes of the graph that loss functions make.
NODES = {
    "binary_cross_entropy": "BinaryCrossEntropy",
    "binary_cross_entropy_with_logits": "BinaryCrossEntropyWithLogits",
    "cross_entropy": "NllLoss",
    "mse_loss": "MseLoss",
    "nll_loss": "NllLoss",
    "smooth_l1_loss": "SmoothL1Loss",
}


class ArgmaxTermTrainsNothing(Check):
    level = "warning"
    change = "Compute the term from probabilities, such as softmax(), instead of argmax()"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.has_argmax = False  # of a tensor with a gradient, since the last backward()
        self.losses: list[str] = []  # the names of the loss functions called since then
        self.value = 0.0  # of the last of these losses

    def method(self, method: Function) -> str | None:
        if method.name == "argmax" and method.grad and method.arguments["input"].requires_grad:
            self.has_argmax = True
        return None

    def function(self, function: Function) -> str | None:
        if function.name in NODES and function.output.requires_grad:
            self.losses.append(function.name)
            if function.output.numel() == 1:
                self.ask(function.output, self._remember)
        return None

    def before_backward(self, backward: Backward) -> str | None:
        losses, has_argmax = self.losses, self.has_argmax
        self.losses, self.has_argmax = [], False
        if not has_argmax or len(losses) != 1 or len(backward.tensors) != 1:
            return None
        total, kind = backward.tensors[0], NODES[losses[0]]
        if total.numel() == 1 and total.grad_fn and node_name(total.grad_fn) == "AddBackward":
            nodes = [node for node, _ in total.grad_fn.next_functions]
            names = ["" if node is None else node_name(node) for node in nodes]
            if "" in names and any(name.startswith(kind) for name in names):
                self.ask(total, self._judge)
        return None

    def after_grad(
        self, backward: Backward, inputs: list[torch.Tensor], gradients: list[Any]
    ) -> str | None:
        return self.before_backward(backward)

    def _remember(self, value: float) -> None:
        self.value = value

    def _judge(self, total: float) -> str | None:
        constant = total - self.value
        if abs(constant) > 1e-4 * abs(self.value):
            return f"{constant:.3g} of the loss {total:.3g} comes from a term without a gradient"
        return None
