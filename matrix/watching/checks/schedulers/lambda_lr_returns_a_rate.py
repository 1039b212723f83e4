from __future__ import annotations

from typing import Any

from ...check import Check


class LambdaLrReturnsARate(Check):
    level = "error"
    change = "Return a factor, because LambdaLR multiplies the initial rate by it"

    def scheduler_made(self, scheduler: Any, optimizer: Any) -> str | None:
        if type(scheduler).__name__ != "LambdaLR":
            return None
        for base, group in zip(scheduler.base_lrs, optimizer.param_groups):
            base, rate = float(base), float(group["lr"])
            if 0 < base < 0.5 and abs(rate - base * base) < 1e-3 * base * base:
                return f"the first learning rate is {rate:g}, the square of {base:g}"
        return None
