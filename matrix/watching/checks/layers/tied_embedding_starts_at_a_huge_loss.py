from __future__ import annotations

import math
from functools import partial

from torch import nn

from ...check import Check
from ...events import Function


class TiedEmbeddingStartsAtAHugeLoss(Check):
    level = "warning"
    change = "Initialize the embedding with a small standard deviation, such as 0.02"

    def function(self, function: Function) -> str | None:
        if function.name != "cross_entropy" or self.run.step > 1:
            return None
        logits = function.arguments["input"]
        if function.arguments["reduction"] == "sum" or logits.dim() < 2:
            return None
        classes = logits.shape[1]
        for model in self.run.facts.models():
            tables = {id(m.weight) for m in model.modules() if isinstance(m, nn.Embedding)}
            for part in model.modules():
                if isinstance(part, nn.Linear) and id(part.weight) in tables:
                    if len(part.weight) == classes:
                        self.ask(function.output.float().mean(), partial(_judge, classes))
                        return None
        return None


def _judge(classes: int, loss: float) -> str | None:
    """What was seen, if the first loss is far from that of a guess."""
    guess = math.log(classes)
    if loss > 2 * guess + 2:
        return f"the first loss is {loss:.3g}, far above log({classes}) = {guess:.3g}"
    return None
