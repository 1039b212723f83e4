from __future__ import annotations

from typing import Any

from torch import nn

from ...check import Check
from ...events import Call, node_name
from .shared import takes_last


class BackwardDirectionHasSeenOneStep(Check):
    level = "warning"
    change = "Use h_n, or take the backward half of output[:, 0]"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        # Node, dimension and number of the steps, and number of the features of both directions.
        self._outputs: list[tuple[Any, int, int, int]] = []

    def called(self, call: Call) -> str | None:
        if isinstance(call.module, nn.RNNBase) and call.module.bidirectional:
            output = call.output[0]
            node = getattr(output, "grad_fn", None)
            if node is not None and output.dim() == 3:
                dim = 1 if call.module.batch_first else 0
                self._outputs.append((node, dim, output.shape[dim], output.shape[2]))
        node = getattr(call.input, "grad_fn", None)
        for _ in range(3):
            if node is None or not node.next_functions or node_name(node) == "CatBackward":
                break
            if node_name(node) == "SelectBackward":
                for output_node, dim, count, features in self._outputs:
                    if call.input.shape[-1] != features:
                        continue  # one direction
                    if count > 1 and takes_last(node, output_node, dim, count):
                        name = self.run.facts.name_of(call.module)
                        return (
                            f"{name} gets the last step, which is the first step of the backward "
                            "direction"
                        )
            node = node.next_functions[0][0]
        if not call.parents:
            self._outputs.clear()
        return None
