from __future__ import annotations

import torch

from ...check import Check


class NoDecayNamesMissTheNorms(Check):
    level = "note"
    change = "Put all parameters with one dimension into the group without weight decay"

    def optimizer_made(self, optimizer: torch.optim.Optimizer) -> str | None:
        groups = optimizer.param_groups
        vectors = [[p for p in group["params"] if p.dim() == 1] for group in groups]
        decayed = [own for group, own in zip(groups, vectors) if group.get("weight_decay")]
        kept = [own for group, own in zip(groups, vectors) if group.get("weight_decay") == 0]
        if any(decayed) and any(kept):
            count = sum(map(len, decayed))
            return (
                f"{count} vectors, such as weights of norms, get weight decay, and others get none"
            )
        return None
