from __future__ import annotations

import weakref
from typing import Any

from ...check import Check
from ...events import Call


class ForwardThroughModule(Check):
    level = "error"
    change = "Call the DistributedDataParallel model itself"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._wrapped: Any = weakref.WeakSet()

    def ddp_made(self, ddp: Any) -> str | None:
        self._wrapped.add(ddp.module)
        return None

    def called(self, call: Call) -> str | None:
        if call.module in self._wrapped and call.grad and call.module.training and not call.parents:
            return (
                "the module inside DistributedDataParallel is called directly, so gradients stay "
                "local"
            )
        return None
