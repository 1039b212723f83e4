from __future__ import annotations

import weakref
from typing import Any

from torch import nn

from ...check import Check
from ...events import Call


class FrozenBatchnormMoves(Check):
    level = "warning"
    change = "Also call eval() on the frozen part after each train()"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._trained: Any = weakref.WeakSet()

    def called(self, call: Call) -> str | None:
        module = call.module
        if not isinstance(module, nn.modules.batchnorm._BatchNorm) or not call.parents:
            return None
        frozen = module.affine and not module.weight.requires_grad
        if module.affine and not frozen:
            self._trained.add(module)
        elif module in self._trained:  # frozen for a while, such as the critic of a GAN
            return None
        if frozen and module.training and module.track_running_stats and call.grad:
            if any(p.requires_grad for p in call.parents[0].parameters()):
                name = self.run.facts.name_of(module)
                return f"{name} is frozen, but is in train mode and updates its running statistics"
        return None
