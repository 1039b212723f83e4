from __future__ import annotations

from ...check import Check
from ...events import Function


class SmoothingMeetsMaskedLogits(Check):
    level = "error"
    change = "Smooth over the allowed classes of each row only"

    def function(self, function: Function) -> str | None:
        of = function.arguments
        if function.name == "cross_entropy" and of.get("label_smoothing") and of["input"].numel():
            smoothing = of["label_smoothing"]
            self.ask(
                of["input"].amin(),
                lambda low: (
                    f"label_smoothing={smoothing} gives a part of a label to classes with a logit"
                    f" of {low:.3g}"
                    if low <= -1e4
                    else None
                ),
            )
        return None
