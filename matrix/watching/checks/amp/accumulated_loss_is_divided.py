from __future__ import annotations

import linecache
import re

from ...check import Check
from ...events import Function, node_name

MEAN = 1  # reduction="mean" in the nodes of losses


class AccumulatedLossIsDivided(Check):
    level = "note"
    change = "Report the loss as it was before the division by the number of accumulated batches"

    def method(self, method: Function) -> str | None:
        node = method.arguments["input"].grad_fn
        if method.name != "item" or node is None or node_name(node) != "DivBackward":
            return None
        loss = node.next_functions[0][0]
        mean = loss is not None and (
            node_name(loss) == "MeanBackward" or getattr(loss, "_saved_reduction", None) == MEAN
        )
        if not mean or "*" in linecache.getline(*self.run.place()):
            return None
        for optimizer in self.run.facts.optimizers():
            windows = self.run.facts.of(optimizer).trace.split("s")[:-1]
            count = len(re.findall("[bB]", windows[-1])) if windows else 0
            if count > 1 and not re.search("[bB][um]*c", windows[-1]):
                return f"the loss is divided by a number, perhaps the {count} batches of a step"
        return None
