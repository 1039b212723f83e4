from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import torch

from ...check import Check

WARMUP = 3  # rates between two steps of the scheduler that are a warmup by hand


class RateSetByHandIsOverwritten(Check):
    level = "warning"
    change = "Change the schedule, not param_groups"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._counts: Counter[int] = Counter()  # the schedulers of each optimizer
        self._rates: tuple[float, float] | None = None  # the scheduler's, and the one set by hand

        self._by_hand: dict[int, set[float]] = defaultdict(set)  # the rates since the last schedule

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if self._counts[id(optimizer)] == 1:
            rate, known = optimizer.param_groups[0]["lr"], self._by_hand[id(optimizer)]
            if isinstance(rate, float) and len(known) < WARMUP:
                known.add(rate)
        return None

    def scheduler_made(self, scheduler: Any, optimizer: Any) -> str | None:
        self._counts[id(optimizer)] += 1
        return None

    def before_schedule(self, scheduler: Any, metric: Any) -> str | None:
        key = id(scheduler.optimizer)
        last = getattr(scheduler, "_last_lr", None)
        self._rates, by_hand = None, self._by_hand.pop(key, set())
        if type(scheduler).__name__ == "LambdaLR" and last and self._counts[key] == 1:
            own, now = float(last[0]), float(scheduler.optimizer.param_groups[0]["lr"])
            if own != now and len(by_hand) < WARMUP:  # otherwise a warmup by hand
                self._rates = own, now
        return None

    def after_schedule(self, scheduler: Any, metric: Any) -> str | None:
        if self._rates is None:
            return None
        (own, by_hand), rate = self._rates, float(scheduler.optimizer.param_groups[0]["lr"])
        if abs(rate - own) < abs(rate - by_hand):
            return f"the rate {by_hand:g}, which was set by hand, is overwritten by {rate:g}"
        return None
