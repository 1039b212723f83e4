from __future__ import annotations

from ...check import Check
from ...events import Function


class AllLabelsIgnored(Check):
    level = "error"
    change = (
        "Divide the sum of the losses by the number of labels that count, clamped to at least 1"
    )

    def function(self, function: Function) -> str | None:
        of = function.arguments
        if function.name in ("cross_entropy", "nll_loss") and of["reduction"] == "mean":
            target, ignored = of["target"], of["ignore_index"]
            if target.numel() and not target.is_floating_point():
                self.ask(
                    (target != ignored).sum(),
                    lambda count: (
                        f"all {target.numel()} labels of a batch are {ignored}, so the mean is NaN"
                        if count == 0
                        else None
                    ),
                )
        return None
