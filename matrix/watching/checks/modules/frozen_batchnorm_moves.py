from __future__ import annotations

from torch import nn

from ...check import Check
from ...events import Call


class FrozenBatchnormMoves(Check):
    level = "warning"
    change = "Also call eval() on the frozen part after each train()"

    def called(self, call: Call) -> str | None:
        module = call.module
        if not isinstance(module, nn.modules.batchnorm._BatchNorm) or not call.parents:
            return None
        frozen = module.affine and not module.weight.requires_grad
        if frozen and module.training and module.track_running_stats and call.grad:
            if any(p.requires_grad for p in call.parents[0].parameters()):
                name = self.run.facts.name_of(module)
                return f"{name} is frozen, but is in train mode and updates its running statistics"
        return None
