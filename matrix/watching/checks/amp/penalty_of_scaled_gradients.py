from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Backward, node_name

NORMS = ("NormBackward", "LinalgVectorNormBackward", "PowBackward")
SHAPES = ("ViewBackward", "ReshapeAliasBackward", "UnsafeViewBackward", "CatBackward")


class PenaltyOfScaledGradients(Check):
    level = "error"
    change = "Divide the gradients by scaler.get_scale() before you compute their norm"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._gradients: list[weakref.ReferenceType[torch.Tensor]] = []

    def after_grad(
        self, backward: Backward, inputs: list[torch.Tensor], gradients: list[Any]
    ) -> str | None:
        if all(map(self.run.facts.is_scaled, backward.tensors)):
            self._gradients = [
                weakref.ref(each) for each in gradients if getattr(each, "grad_fn", None)
            ]
        return None

    def before_backward(self, backward: Backward) -> str | None:
        alive = [reference() for reference in self._gradients]
        self._gradients = []
        scaled = {each.grad_fn for each in alive if each is not None}
        if not scaled:
            return None
        divided = {
            each for node in backward.named("DivBackward") for each, _ in node.next_functions
        }
        for node in backward.nodes:
            if node in divided:  # perhaps by the scale
                continue
            inputs = [each for each, _ in node.next_functions]
            squares = node_name(node) == "MulBackward" and len({*inputs}) == 1
            if not squares and node_name(node) not in NORMS:
                continue
            while inputs and inputs[0] is not None and node_name(inputs[0]) in SHAPES:
                inputs = [each for each, _ in inputs[0].next_functions]
            if not scaled.isdisjoint(inputs):
                return (
                    "the loss contains a norm of gradients that are still multiplied by the scale"
                )
        return None
