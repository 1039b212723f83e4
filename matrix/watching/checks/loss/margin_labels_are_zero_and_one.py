from __future__ import annotations

from ...check import Check
from ...events import Function


class MarginLabelsAreZeroAndOne(Check):
    level = "error"
    change = "Pass 2 * labels - 1, so that the labels are -1 and 1"

    def function(self, function: Function) -> str | None:
        if function.name == "margin_ranking_loss":
            target = function.arguments["target"]
            self.ask(
                (target == 0).sum(),
                lambda count: (
                    f"{count:.0f} of {target.numel()} labels of margin_ranking_loss() are 0"
                    if count
                    else None
                ),
            )
        return None
