from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import torch

from ...check import Check
from ...events import Backward, version
from ...facts import parameters
from .shared import listed


class ZeroGradInEveryMicroBatch(Check):
    level = "error"
    change = "Call zero_grad() once per step, before the first of its backward() calls"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        # by optimizer: the versions of its first parameter
        self._versions: dict[int, set[int]] = defaultdict(set)
        self._attacks = False  # True if the program wants gradients of inputs too

    def before_backward(self, backward: Backward) -> str | None:
        for optimizer in self.run.facts.optimizers():
            first, known = next(parameters(optimizer), None), self._versions[id(optimizer)]
            if first is not None and len(known) < 2:
                known.add(version(first))
        inputs = [each for each in backward.leaves if not isinstance(each, torch.nn.Parameter)]
        if inputs and any(id(each) not in listed(self.run) for each in inputs):
            self._attacks = True
        return None

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        windows = self.run.facts.of(optimizer).trace.split("s")
        shifted = len(self._versions.pop(id(optimizer), ())) > 1  # by SAM, between its gradients
        if self._attacks or shifted or "o" in "".join(windows[-2:]):
            return None
        if windows[-1].endswith("m"):  # the program has combined the gradients itself
            return None
        lost = [len(re.findall("[bB][um]*c(?=[um]*[bB])", window)) for window in windows]
        before = lost[-3:-1]  # a program that skips a batch with NaN loses one now and then
        if lost[-1] >= (1 if before else 3) and all(before):
            return "zero_grad() clears the gradients of all but the last backward() before the step"
        return None
