from __future__ import annotations

import torch

from ...check import Check
from ...events import Function


class StandardDeviationOfOne(Check):
    level = "warning"
    change = "Compute the standard deviation only if there are at least two values"

    def method(self, method: Function) -> str | None:
        if method.name == "std" and isinstance(method.output, torch.Tensor):
            values, result = method.arguments["input"], method.output
            if 0 < values.numel() == result.numel():
                self.ask(
                    result.isnan().all() & values.isfinite().all(),
                    lambda nan: "std() of a single value is NaN" if nan else None,
                )
        return None
