from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...facts import parameters


class OptimizerIsBuiltInEachEpoch(Check):
    level = "warning"
    change = "Build the optimizer once, before the loop over the epochs"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._made: dict[Any, Any] = {}  # by place: the first parameter, and the optimizer's facts
        self._again: dict[int, tuple[str, int]] = {}  # the optimizers that have lost their state

    def optimizer_made(self, optimizer: torch.optim.Optimizer) -> str | None:
        group, place = optimizer.param_groups[0], self.run.place()
        first = next(parameters(optimizer), None)
        if first is None:
            return None
        known, facts = self._made.get(place, (None, None))
        self._made[place] = weakref.ref(first), self.run.facts.of(optimizer)
        has_state = type(optimizer).__name__ != "SGD" or bool(group.get("momentum"))
        if known is not None and known() is first and facts.steps and has_state:
            self._again[id(optimizer)] = place
        return None

    def loaded(self, module: torch.nn.Module, state: Any, result: Any) -> str | None:
        self._made = {}  # perhaps the start of another fold or round
        return None

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, state: Any, before: Any
    ) -> str | None:
        self._again.pop(id(optimizer), None)
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        place = self._again.pop(id(optimizer), None)
        if place:
            message = f"{type(optimizer).__name__} is built again, and starts without its state"
            self.run.report(self, message, place)
        return None
