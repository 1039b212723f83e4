from __future__ import annotations

import math
from typing import Any

import torch

from ...check import Check
from ...events import Clip
from ...run import Run


class ClipSpreadsOneInf(Check):
    level = "error"
    change = "Skip the step if a gradient is not finite"

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self.norms: dict[int, list[float]] = {}  # by id of an optimizer, since its last step

    def after_clip(self, clip: Clip) -> str | None:
        if clip.name == "clip_grad_norm_" and isinstance(clip.result, torch.Tensor):
            for optimizer in self.run.facts.optimizers_of(clip.parameters):
                # A GradScaler skips the step after unscale_() if a gradient is infinite.
                if "u" not in self.run.facts.of(optimizer).since_step:
                    norms: list[float] = []
                    self.norms[id(optimizer)] = norms
                    self.ask(clip.result, norms.append)
        return None

    def cleared(self, owner: Any) -> str | None:
        self.norms = {}
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        norms = self.norms.pop(id(optimizer), None)
        if norms is not None:
            self.ask(torch.zeros(()), lambda _: self._judge(norms))
        return None

    def _judge(self, norms: list[float]) -> str | None:
        if any(map(math.isinf, norms)):
            return "the gradient norm was inf, so clip_grad_norm_() set the finite gradients to 0"
        return None
