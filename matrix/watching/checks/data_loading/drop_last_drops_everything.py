from __future__ import annotations

from typing import Any

from ...check import Check
from ...events import Batches


class DropLastDropsEverything(Check):
    level = "error"
    change = "Use a smaller batch size, or drop_last=False"

    def loader_ended(self, batches: Batches) -> str | None:
        loader = batches.loader
        if batches.count == 0 and loader.drop_last and not _has_no_row(loader):
            return f"the dataset has fewer rows than a batch of {loader.batch_size}"
        return None


def _has_no_row(loader: Any) -> bool:
    parts = loader.dataset, loader.sampler
    return any(hasattr(part, "__len__") and len(part) == 0 for part in parts)
