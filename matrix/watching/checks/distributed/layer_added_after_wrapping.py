from __future__ import annotations

from .shared import Wrapped


class LayerAddedAfterWrapping(Wrapped):
    level = "error"
    change = "Wrap the model after all layers are added"
    message = "{} was added after DistributedDataParallel wrapped the model"

    def is_unknown(self, key: int, every: set[int], frozen: set[int]) -> bool:
        return key not in every
