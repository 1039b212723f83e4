from __future__ import annotations

import torch

from ...check import Check
from ...events import Function


class MarginLabelsAreZeroAndOne(Check):
    level = "error"
    change = "Pass 2 * labels - 1, so that the labels are -1 and 1"

    def function(self, function: Function) -> str | None:
        if function.name == "margin_ranking_loss":
            target = function.arguments["target"]
            number = target.numel()
            self.ask(
                torch.stack([(target == 0).sum(), (target < 0).sum()]),
                lambda counts: (
                    f"{counts[0]:.0f} of {number} labels of margin_ranking_loss() are 0, none is -1"
                    if counts[0] and not counts[1]  # with -1, a label of 0 may be a tie
                    else None
                ),
            )
        return None
