from __future__ import annotations

import weakref
from typing import Any

from torch import nn
from torch.optim.swa_utils import AveragedModel

from ...check import Check
from ...events import Call


class EmaWithoutBuffers(Check):
    level = "warning"
    change = "Pass use_buffers=True to AveragedModel, or call update_bn()"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._updated: Any = weakref.WeakSet()  # averaged models after train(), as in update_bn()

    def mode_set(self, module: nn.Module, training: bool) -> str | None:
        if training and isinstance(module, AveragedModel):
            self._updated.add(module)
        return None

    def called(self, call: Call) -> str | None:
        if not isinstance(call.module, AveragedModel) or call.module.training:
            return None
        if call.module in self._updated or getattr(call.module, "use_buffers", False):
            return None
        for part in call.module.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.track_running_stats:
                name = self.run.facts.name_of(part)
                return f"the averaged model has old running statistics in {name}"
        return None
