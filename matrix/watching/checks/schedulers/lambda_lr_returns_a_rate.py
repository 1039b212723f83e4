from __future__ import annotations

from typing import Any

from ...check import Check


class LambdaLrReturnsARate(Check):
    level = "error"
    change = "Return a factor, because LambdaLR multiplies the initial rate by it"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        # By scheduler: its first group, the first rate, what was seen, and the line.
        self._found: dict[int, tuple[Any, float, str, tuple[str, int]]] = {}

    def scheduler_made(self, scheduler: Any, optimizer: Any) -> str | None:
        self._found.pop(id(scheduler), None)
        if type(scheduler).__name__ != "LambdaLR":
            return None
        for base, group in zip(scheduler.base_lrs, optimizer.param_groups):
            base, rate = float(base), float(group["lr"])
            if 0 < base < 0.5 and abs(rate - base * base) < 1e-3 * base * base:
                message = f"the first learning rate is {rate:g}, the square of {base:g}"
                self._found[id(scheduler)] = group, rate, message, self.run.place()
        return None

    def after_schedule(self, scheduler: Any, metric: Any) -> str | None:
        group, first, message, place = self._found.get(id(scheduler), (None, 0.0, "", ("", 0)))
        if group is not None and float(group["lr"]) != first:
            del self._found[id(scheduler)]
            if float(group["lr"]) < first:  # otherwise a warmup
                self.run.report(self, message, place)
        return None

    def ended(self) -> str | None:
        for _, _, message, place in self._found.values():
            self.run.report(self, message, place)
        return None
