from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...events import Backward, Call, node_name
from ...run import Run


class PenaltyOfDetachedWeights(Check):
    level = "warning"
    change = "Compute the penalty from model.parameters()"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.read = ""  # the model whose state was read between its call and backward()

    def called(self, call: Call) -> str | None:
        self.read = ""
        return None

    def state_read(self, module: torch.nn.Module, state: Any) -> str | None:
        self.read = self.run.facts.name_of(module)
        return None

    def before_backward(self, backward: Backward) -> str | None:
        read, self.read = self.read, ""
        if read and len(backward.tensors) == 1 and backward.nodes:
            root = backward.tensors[0].grad_fn
            if node_name(root) == "AddBackward" and (None, 0) in root.next_functions:
                return (
                    f"a term of the loss has no gradient, perhaps a penalty on {read}.state_dict()"
                )
        return None
