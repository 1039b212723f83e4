from __future__ import annotations

import sys
import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Call
from ...facts import parameters


class ReentrantCheckpointCutsGraph(Check):
    level = "error"
    change = "Pass use_reentrant=False to checkpoint()"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._blocks: Any = weakref.WeakSet()  # modules called inside a reentrant checkpoint

    def called(self, call: Call) -> str | None:
        if not call.grad and call.module.training and _in_reentrant_checkpoint():
            self._blocks.add(call.module)
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if not self._blocks:
            return None
        own = {id(p) for p in parameters(optimizer)}
        trains = any(p.grad is not None for p in parameters(optimizer))
        for block in list(self._blocks):
            trained = [p for p in block.parameters() if p.requires_grad and id(p) in own]
            if trained:
                self._blocks.discard(block)
            if trains and trained and all(p.grad is None for p in trained):
                name = self.run.facts.name_of(block)
                return f"{name} was called in a reentrant checkpoint and has no gradient"
        return None


def _in_reentrant_checkpoint() -> bool:
    frame: Any = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code.co_name == "forward" and code.co_filename.endswith("torch/utils/checkpoint.py"):
            return True
        frame = frame.f_back
    return False
