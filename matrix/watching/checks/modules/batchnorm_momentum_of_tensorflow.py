from __future__ import annotations

from torch import nn

from ...check import Check
from ...events import Call


class BatchnormMomentumOfTensorflow(Check):
    level = "warning"
    change = "Pass 1 - momentum, such as 0.01 instead of 0.99"

    def called(self, call: Call) -> str | None:
        module = call.module
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and (module.momentum or 0) >= 0.9:
            name = self.run.facts.name_of(module)
            return f"{name} has momentum {module.momentum:g}, so it remembers only the last batch"
        return None
