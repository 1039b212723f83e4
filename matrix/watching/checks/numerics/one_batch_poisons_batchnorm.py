from __future__ import annotations

from torch.nn.modules.batchnorm import _BatchNorm

from ...check import Check
from ...events import Call
from .shared import is_readable


class OneBatchPoisonsBatchnorm(Check):
    level = "error"
    change = "If the input of a batch is not finite, skip the batch before you call the model"

    def called(self, call: Call) -> str | None:
        if isinstance(call.module, _BatchNorm):
            mean, inputs = call.module.running_mean, call.input
            if mean is not None and is_readable(inputs):
                name = self.run.facts.name_of(call.module)
                self.ask(
                    mean.isnan().any() & inputs.isfinite().all(),
                    lambda poisoned: (
                        f"the running mean of {name} is NaN although its input is finite"
                        if poisoned
                        else None
                    ),
                )
        return None
