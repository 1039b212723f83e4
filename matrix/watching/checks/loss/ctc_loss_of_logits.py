from __future__ import annotations

import math

import torch

from ...check import Check
from ...events import Function


class CtcLossOfLogits(Check):
    level = "error"
    change = "Pass logits.log_softmax(-1) to ctc_loss()"

    def function(self, function: Function) -> str | None:
        if function.name == "ctc_loss":
            of = function.arguments
            inputs, targets = of["log_probs"], of["targets"]
            softmax_inside = inputs.is_cuda and targets.dim() == 1 and targets.dtype == torch.int32
            if inputs.numel() and not softmax_inside:
                frames = torch.as_tensor(of["input_lengths"], device=inputs.device)
                times = torch.arange(len(inputs), device=inputs.device)
                padding = times.view(-1, *[1] * frames.dim()) >= frames
                sums = inputs.float().logsumexp(-1).masked_fill(padding, 0)
                self.ask(torch.stack([sums.amin(), sums.amax()]), self._judge)
        return None

    def _judge(self, ends: list[float]) -> str | None:
        if max(map(abs, ends)) > 0.05:  # also False for NaN
            total = math.exp(min(max(ends, key=abs), 700))
            return f"exp() of the log-probabilities of a frame adds up to {total:.3g}, not 1"
        return None
