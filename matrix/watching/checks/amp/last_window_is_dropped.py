from __future__ import annotations

import re
from typing import Any

import torch

from ...check import Check
from ...events import Backward, Batches
from ...facts import Gradients

LEFT = "no step follows the last {} batches"


class LastWindowIsDropped(Check):
    level = "warning"
    change = "Also step after the last batch of an epoch"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._stepped: dict[int, tuple[Gradients, tuple[str, int]]] = {}  # and the last step's line
        self._ended: set[int] = set()  # optimizers with gradients at the end of a loader
        self._next: dict[int, int] = {}  # by optimizer: the batches that its next step has to use
        self._started = False  # a loader has started, and no backward() has followed

    def each_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        gradients = self.run.facts.of(optimizer)
        self._stepped[id(optimizer)] = gradients, self.run.place()
        self._ended.discard(id(optimizer))
        left, windows = self._next.pop(id(optimizer), 0), gradients.trace.split("s")[-2:]
        before, now = (len(re.findall("[bB]", window)) for window in ("", *windows)[-2:])
        if left and (now > before or re.search("[bB].*c", windows[-1])):
            return LEFT.format(left)  # the window of this step is too long, or has lost them
        return None

    def loader_started(self, batches: Batches) -> str | None:
        self._started = True
        return None

    def loader_ended(self, batches: Batches) -> str | None:
        if not self._started:  # otherwise an evaluation
            self._ended = {key for key, (gradients, _) in self._stepped.items() if _left(gradients)}
        self._started = False
        return None

    def before_backward(self, backward: Backward) -> str | None:
        if not self._started:  # a loader that reads ahead ends before its last batches are used
            return None
        self._started = False
        ended, self._ended = self._ended, set()  # no step has followed the end of the loader
        for key in ended:
            self._next[key] = _left(self._stepped[key][0])
        return None

    def ended(self) -> str | None:
        for gradients, place in self._stepped.values():
            if _left(gradients):
                self.run.report(self, LEFT.format(_left(gradients)), place)
        return None


def _left(gradients: Gradients) -> int:
    """The backward() calls since the last step, if the window before had several calls."""
    windows = gradients.trace.split("s")
    last = windows[-1].rpartition("c")[2]
    before = windows[-2].rpartition("c")[2] if len(windows) > 1 else ""
    longer = "o" not in "".join(windows[-2:]) and len(re.findall("[bB]", before)) > 1
    return len(re.findall("[bB]", last)) if longer else 0
