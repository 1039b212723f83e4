from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import nn

from ...check import Check
from ...events import Call, node_name
from .shared import takes_last


class LastStepIsPadding(Check):
    level = "warning"
    change = "Take h_n of a packed sequence, or the output at the last real step"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._padded: torch.Tensor | None = None  # whether a last token of this call is padding
        self._outputs: list[tuple[Any, int, int]] = []  # node, dimension and number of the steps

    def called(self, call: Call) -> str | None:
        module = call.module
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            if call.input.dim() == 2:
                self._padded = (call.input[:, -1] == module.padding_idx).any()
        if isinstance(module, nn.RNNBase) and isinstance(call.output[0], torch.Tensor):
            node, dim = call.output[0].grad_fn, int(module.batch_first)
            if node is not None and module.batch_first and not module.bidirectional:
                self._outputs.append((node, dim, call.output[0].shape[dim]))
        node = getattr(call.input, "grad_fn", None)
        if node is not None and node_name(node) == "SelectBackward" and self._padded is not None:
            for output, dim, count in self._outputs:
                if takes_last(node, output, dim, count):
                    name = self.run.facts.name_of(module)
                    self.ask(self._padded, partial(_judge, name))
                    self._padded = None
        if not call.parents:
            self._padded = None
            self._outputs.clear()
        return None


def _judge(name: str, padded: float) -> str | None:
    return (
        f"{name} gets the last step of each row, which is padding in some rows" if padded else None
    )
