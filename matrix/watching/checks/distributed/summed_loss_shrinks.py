from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...events import Backward, node_name

MEAN, SUM = 1, 2  # the reductions in the nodes of losses


class SummedLossShrinks(Check):
    level = "warning"
    change = (
        "Before backward(), multiply the loss by the number of ranks, or use the mean over the rows"
    )

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._ranks = 1

    def ddp_made(self, ddp: Any) -> str | None:
        self._ranks = torch.distributed.get_world_size(ddp.process_group)
        return None

    def before_backward(self, backward: Backward) -> str | None:
        if self._ranks < 2 or len(backward.tensors) != 1 or not backward.nodes:
            return None
        node = backward.nodes[0]
        if backward.scaled:
            node = node.next_functions[0][0]
        summed = getattr(node, "_saved_reduction", None) == SUM
        if node_name(node) == "SumBackward":  # of a loss that nothing has divided
            summed = not any(backward.named("DivBackward", "MeanBackward")) and not any(
                getattr(each, "_saved_reduction", None) == MEAN for each in backward.nodes
            )
        if summed:
            return f"the loss is a sum, but the gradient is averaged over {self._ranks} ranks"
        return None
