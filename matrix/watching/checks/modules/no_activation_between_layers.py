from __future__ import annotations

import weakref
from typing import Any

import torch
from torch import nn

from ...check import Check
from ...events import Call


class NoActivationBetweenLayers(Check):
    level = "note"
    change = "Put an activation between the layers, or use one layer"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._last: tuple[Any, Any] | None = None  # the last Linear, and its output

    def called(self, call: Call) -> str | None:
        if not call.parents:
            self._last = None
        if type(call.module) is not nn.Linear or not isinstance(call.output, torch.Tensor):
            return None
        last, self._last = self._last, (weakref.ref(call.module), weakref.ref(call.output))
        first = last[0]() if last else None
        if last is None or first is None or last[1]() is not call.input:
            return None
        if first.out_features < min(first.in_features, call.module.out_features):
            return None  # a factor of low rank
        names = self.run.facts.name_of(first), self.run.facts.name_of(call.module)
        return f"{names[1]} gets the output of {names[0]}, without an activation between them"
