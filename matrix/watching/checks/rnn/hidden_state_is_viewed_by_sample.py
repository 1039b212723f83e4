from __future__ import annotations

from typing import Any

from torch import nn

from ...check import Check
from ...events import Call, node_name, tensors


class HiddenStateIsViewedBySample(Check):
    level = "error"
    change = "Transpose the state before view(): h.transpose(0, 1).reshape(batch, -1)"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._states: list[tuple[Any, int]] = []  # nodes of states of this call, and samples

    def called(self, call: Call) -> str | None:
        if isinstance(call.module, nn.RNNBase) and isinstance(call.output, tuple):
            for state in tensors(call.output[1]):
                if state.grad_fn is not None and state.dim() == 3 and len(state) > 1:
                    self._states.append((state.grad_fn, state.shape[1]))
        node = getattr(call.input, "grad_fn", None)
        views = ("ViewBackward", "UnsafeViewBackward", "ReshapeAliasBackward")
        if node is not None and node_name(node) in views and call.input.dim() == 2:
            before = node.next_functions[0][0]
            rows = len(call.input)
            if any(before is state and rows == samples > 1 for state, samples in self._states):
                return (
                    f"{self.run.facts.name_of(call.module)} gets a state whose view mixes samples"
                )
        if not call.parents:
            self._states.clear()
        return None
