from __future__ import annotations

import weakref
from typing import Any

from torch import nn

from ...check import Check
from ...events import Call


class TrainModeRestoreUnfreezes(Check):
    level = "warning"
    change = "Restore the mode of each module, not only that of the model"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        # In eval mode inside a model in train mode: the parameters that get gradients.
        self._frozen: Any = weakref.WeakKeyDictionary()

    def called(self, call: Call) -> str | None:
        if call.parents or not call.module.training or not call.grad:
            return None
        for part in call.module.modules():
            if isinstance(part, nn.modules.batchnorm._BatchNorm):
                trained = sum(p.requires_grad for p in part.parameters())
                if not part.training:
                    self._frozen[part] = trained
                elif trained <= self._frozen.pop(part, -1):  # not unfrozen on purpose
                    return (
                        f"{self.run.facts.name_of(part)} was in eval mode, and is now in train mode"
                    )
        return None
