from __future__ import annotations

from .shared import Wrapped


class UnfrozenAfterWrapping(Wrapped):
    level = "error"
    change = "Unfreeze the layers before the model is wrapped, or wrap it again"
    message = "{} was frozen when DistributedDataParallel wrapped the model"

    def is_unknown(self, key: int, every: set[int], frozen: set[int]) -> bool:
        return key in frozen
