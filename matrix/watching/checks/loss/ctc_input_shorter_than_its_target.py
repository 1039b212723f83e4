from __future__ import annotations

import torch

from ...check import Check
from ...events import Function


class CtcInputShorterThanItsTarget(Check):
    level = "warning"
    change = "Leave out the samples with fewer frames than labels plus repeated labels"

    def function(self, function: Function) -> str | None:
        if function.name != "ctc_loss":
            return None
        of = function.arguments
        device = of["log_probs"].device
        frames, lengths = (
            torch.as_tensor(of[name], device=device).reshape(-1)
            for name in ("input_lengths", "target_lengths")
        )
        targets = of["targets"].to(device)
        needed = lengths
        if targets.dim() == 2 and targets.shape[1] > 1:
            places = torch.arange(1, targets.shape[1], device=device)
            repeated = (targets[:, 1:] == targets[:, :-1]) & (places < lengths[:, None])
            needed = lengths + repeated.sum(1)
        total = frames.numel()
        self.ask(
            (frames < needed).sum(),
            lambda count: (
                f"{count:.0f} of {total} samples have too few frames for their target"
                if count
                else None
            ),
        )
        return None
