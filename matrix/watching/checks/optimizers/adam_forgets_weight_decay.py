from __future__ import annotations

import torch

from ...check import Check


class AdamForgetsWeightDecay(Check):
    level = "note"
    change = "Use AdamW for weight decay"

    def optimizer_made(self, optimizer: torch.optim.Optimizer) -> str | None:
        if type(optimizer) is not torch.optim.Adam:
            return None
        for group in optimizer.param_groups:
            if group["weight_decay"] and not group.get("decoupled_weight_decay"):
                return f"Adam scales the weight decay of {group['weight_decay']:g} like a gradient"
        return None
