from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...facts import parameters
from ...run import Run

SAMPLE = 256  # values per parameter that are compared
PARAMETERS = 8  # parameters that are compared
HALF = (torch.bfloat16, torch.float16)


class Bfloat16WeightsDoNotMove(Check):
    level = "warning"
    change = "Keep the weights in float32, and compute in bfloat16 under torch.autocast()"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.before: list[list[float]] = []
        self.stuck = 0  # looks in a row at which the weights have not moved

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        for parameter in self._chosen(optimizer):
            # A fused or foreach step may change the memory in place, so the values are copied.
            self.ask(torch.stack(self._values(parameter)), self.before.append)
        return None

    def after_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        chosen = self._chosen(optimizer)
        if chosen:
            group = optimizer.param_groups[0]
            rate = group.get("lr", 0)
            if rate < 0.5 * group.get("max_lr", group.get("initial_lr", rate)):
                rate = 0  # a warmup, or the end of a schedule
            kind = str(chosen[0].dtype).rpartition(".")[2]
            name = self.run.facts.name_of(chosen[0])
            values = torch.cat([self._values(parameter)[0] for parameter in chosen])
            self.ask(values, lambda after: self._judge(after, f"{name}, in {kind},", float(rate)))
        return None

    def _chosen(self, optimizer: torch.optim.Optimizer) -> list[torch.Tensor]:
        found = [p for p in parameters(optimizer) if p.dtype in HALF and p.grad is not None]
        return found[:PARAMETERS]

    def _values(self, parameter: torch.Tensor) -> list[torch.Tensor]:
        gradient = parameter.grad if parameter.grad is not None else parameter
        return [each.detach().reshape(-1)[:SAMPLE].float() for each in (parameter, gradient)]

    def _judge(self, after: Any, name: str, rate: float) -> str | None:
        pairs = [pair for each in self.before for pair in self._pairs(each)]
        self.before = []
        values = after if isinstance(after, list) else [after]
        moving = [
            (old, new) for (old, slope), new in zip(pairs, values) if slope and slope - slope == 0
        ]
        if len(pairs) != len(values) or not moving or not rate:
            return None
        same = sum(old == new for old, new in moving)
        self.stuck = self.stuck + 1 if same >= 0.9 * len(moving) else 0
        if self.stuck == 3:
            return (
                f"{same} of {len(moving)} values of {name} and of the parameters after it did not"
                f" move in a step with lr={rate:g}, although their gradients are not zero"
            )
        return None

    def _pairs(self, flat: list[float]) -> list[tuple[float, float]]:
        half = len(flat) // 2
        return list(zip(flat[:half], flat[half:]))
