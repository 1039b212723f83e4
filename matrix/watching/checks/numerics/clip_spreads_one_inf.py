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
        self.clipped_since = False  # True if gradients were clipped since the last step
        self.norm = 0.0

    def after_clip(self, clip: Clip) -> str | None:
        if clip.name == "clip_grad_norm_" and isinstance(clip.result, torch.Tensor):
            optimizers = self.run.facts.optimizers_of(clip.parameters)
            # A GradScaler skips the step after unscale_() if a gradient is infinite.
            if not any("u" in self.run.facts.of(each).since_step for each in optimizers):
                self.clipped_since = True
                self.ask(clip.result, self._remember)
        return None

    def cleared(self, owner: Any) -> str | None:
        self.clipped_since = False
        return None

    def before_step(self, optimizer: torch.optim.Optimizer) -> str | None:
        if self.clipped_since:
            self.ask(torch.zeros(()), self._judge)
        self.clipped_since = False
        return None

    def _remember(self, norm: float) -> None:
        self.norm = norm

    def _judge(self, _: float) -> str | None:
        norm, self.norm = self.norm, 0.0
        if math.isinf(norm):
            return "the gradient norm was inf, so clip_grad_norm_() set the finite gradients to 0"
        return None
