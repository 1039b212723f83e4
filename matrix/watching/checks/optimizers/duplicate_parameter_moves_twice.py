from __future__ import annotations

import torch

from ...check import Check


class DuplicateParameterMovesTwice(Check):
    level = "error"
    change = "List each parameter once"

    def optimizer_made(self, optimizer: torch.optim.Optimizer) -> str | None:
        for number, group in enumerate(optimizer.param_groups):
            ids = [id(parameter) for parameter in group["params"]]
            if len(set(ids)) < len(ids):
                count = len(ids) - len(set(ids))
                return f"group {number} lists {count} of its parameters more than once"
        return None
