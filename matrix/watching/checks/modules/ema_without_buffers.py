from __future__ import annotations

import torch
from torch import nn

from ...check import Check
from ...events import Call


class EmaWithoutBuffers(Check):
    level = "warning"
    change = "Pass use_buffers=True to AveragedModel, or call update_bn()"

    def called(self, call: Call) -> str | None:
        if not isinstance(call.module, torch.optim.swa_utils.AveragedModel) or call.module.training:
            return None
        if getattr(call.module, "use_buffers", False):
            return None
        for part in call.module.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm) and part.track_running_stats:
                name = self.run.facts.name_of(part)
                return f"the averaged model has old running statistics in {name}"
        return None
