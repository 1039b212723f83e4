from __future__ import annotations

from typing import Any

import torch

from ...check import Check


class LoadedRateReplacesTheNew(Check):
    level = "note"
    change = "Set the rate in param_groups after load_state_dict()"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._loaded: list[tuple[Any, float, float, tuple[str, int]]] = []  # until the next step

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, state: Any, before: Any
    ) -> str | None:
        for old, group in zip(before, optimizer.param_groups):
            was, now = float(old.get("lr", 0)), float(group.get("lr", 0))
            bases = was, float(old.get("initial_lr", was))  # of a schedule that is resumed
            if was != now and float(group.get("initial_lr", now)) not in bases:
                self._loaded.append((group, was, now, self.run.place()))
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        return self.ended() if self._loaded else None

    def ended(self) -> str | None:
        loaded, self._loaded = self._loaded, []
        for group, was, now, place in loaded:
            if float(group["lr"]) == now:
                message = f"load_state_dict() has replaced the new learning rate {was:g} by {now:g}"
                self.run.report(self, message, place)
        return None
