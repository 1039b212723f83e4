from __future__ import annotations

import weakref
from typing import Any

from ...check import Check
from ...events import Call


class Wrapped(Check):
    """A parameter that DistributedDataParallel does not know. A base class."""

    message = ""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._known: Any = weakref.WeakKeyDictionary()  # by wrapper: the ids of all, and of frozen

    def ddp_made(self, ddp: Any) -> str | None:
        every = {id(p) for p in ddp.module.parameters()}
        frozen = {id(p) for p in ddp.module.parameters() if not p.requires_grad}
        self._known[ddp] = every, frozen
        return None

    def called(self, call: Call) -> str | None:
        if call.module in self._known and call.grad:
            every, frozen = self._known[call.module]
            for name, parameter in call.module.module.named_parameters():
                if parameter.requires_grad and self.is_unknown(id(parameter), every, frozen):
                    return self.message.format(name)
        return None

    def is_unknown(self, key: int, every: set[int], frozen: set[int]) -> bool:
        raise NotImplementedError
