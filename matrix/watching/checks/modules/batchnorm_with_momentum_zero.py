from __future__ import annotations

from torch import nn

from ...check import Check
from ...events import Call


class BatchnormWithMomentumZero(Check):
    level = "warning"
    change = "Pass momentum=None for a mean over all batches, or a small momentum"

    def called(self, call: Call) -> str | None:
        module = call.module
        if isinstance(module, nn.modules.batchnorm._BatchNorm) and module.momentum == 0:
            if module.training and module.track_running_stats:
                name = self.run.facts.name_of(module)
                # Other statistics may be frozen on purpose, as in the second pass of SAM.
                self.ask(
                    (module.running_mean == 0).all() & (module.running_var == 1).all(),
                    lambda initial: (
                        f"{name} has momentum 0, so it learns no statistics" if initial else None
                    ),
                )
        return None
