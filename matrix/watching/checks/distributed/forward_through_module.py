from __future__ import annotations

import weakref
from typing import Any

from torch import nn

from ...check import Check
from ...events import Backward, Call


class ForwardThroughModule(Check):
    level = "error"
    change = "Call the DistributedDataParallel model itself"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._wrapped: Any = weakref.WeakSet()
        self._place: tuple[str, int] | None = None  # of a direct call, if the wrapper's is earlier

    def ddp_made(self, ddp: Any) -> str | None:
        self._wrapped.add(ddp.module)
        return None

    def called(self, call: Call) -> str | None:
        if isinstance(call.module, nn.parallel.DistributedDataParallel):
            self._place = None
        elif call.module in self._wrapped and call.grad and not call.parents:
            self._place = self.run.place() if call.module.training else None
        return None

    def before_backward(self, backward: Backward) -> str | None:
        place, self._place = self._place, None
        own = {id(p) for module in self._wrapped for p in module.parameters()} if place else ()
        if place and any(id(leaf) in own for leaf in backward.leaves):
            message = (
                "the module inside DistributedDataParallel is called directly, so gradients stay "
                "local"
            )
            self.run.report(self, message, place)
        return None
