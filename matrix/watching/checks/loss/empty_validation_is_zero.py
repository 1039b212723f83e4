from __future__ import annotations

from torch.utils.data import IterableDataset

from ...check import Check
from ...events import Batches


class EmptyValidationIsZero(Check):
    level = "error"
    change = "Set drop_last=False or a smaller batch_size, and raise an error if there is no batch"

    def loader_ended(self, batches: Batches) -> str | None:
        loader = batches.loader
        if batches.count or not loader.drop_last or isinstance(loader.dataset, IterableDataset):
            return None
        sampler = loader.sampler
        rows = len(sampler) if hasattr(sampler, "__len__") else 0
        if rows:
            return (
                f"a loader with drop_last=True and batch_size={loader.batch_size} has dropped its"
                f" only batch, of {rows} rows"
            )
        return None
