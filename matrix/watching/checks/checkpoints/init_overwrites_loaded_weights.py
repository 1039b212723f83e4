from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import nn

from ...check import Check
from ...events import Call, version

VALUES = 64  # of a matrix that are compared


class InitOverwritesLoadedWeights(Check):
    level = "error"
    change = "Load the weights after the initialization"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._versions: dict[str, tuple[Any, int]] = {}  # some parameters, until they are used
        self._place = ("", 0)
        self._values: list[float] = []  # the first values of one of them

    def loaded(self, module: nn.Module, state: Any, result: Any) -> str | None:
        self._place = self.run.place()
        self._versions = {
            name: (parameter, version(parameter))
            for name, parameter in list(module.named_parameters())[:20]
            if name in state
        }
        for parameter, _ in self._sample():
            self.ask(parameter.reshape(-1)[:VALUES].clone(), self._remember)
        return None

    def called(self, call: Call) -> str | None:
        return self.ended() if self._versions else None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        return self.ended() if self._versions else None

    def ended(self) -> str | None:
        versions, self._versions = self._versions, {}
        moved = [name for name, (p, before) in versions.items() if version(p) > before]
        if len(moved) >= max(2, len(versions) / 2):
            self._versions = versions
            message, place = f"{moved[0]} was changed after load_state_dict()", self._place
            for parameter, _ in self._sample():
                judge = partial(self._compare, message, place)
                self.ask(parameter.reshape(-1)[:VALUES].clone(), judge)
            self._versions = {}
        return None

    def _sample(self) -> list[tuple[Any, int]]:
        """The first matrix, whose values a new initialization replaces."""
        own = [each for each in self._versions.values() if each[0].device.type != "meta"]
        return [*(each for each in own if each[0].dim() > 1), *own][:1]

    def _remember(self, values: Any) -> None:
        self._values = values if isinstance(values, list) else [values]

    def _compare(self, message: str, place: tuple[str, int], values: Any) -> None:
        now, before = values if isinstance(values, list) else [values], self._values
        moved = sum((a - b) ** 2 for a, b in zip(now, before))
        if moved > 0.01 * sum(b * b for b in before):  # otherwise only shifted a little
            self.run.report(self, message, place)
