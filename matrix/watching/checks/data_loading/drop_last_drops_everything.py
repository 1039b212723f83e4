from __future__ import annotations

from typing import Any

from ...check import Check
from ...events import Batches


class DropLastDropsEverything(Check):
    level = "error"
    change = "Use a smaller batch size, or drop_last=False"

    def loader_ended(self, batches: Batches) -> str | None:
        loader = batches.loader
        if batches.count == 0 and loader.drop_last and not _is_empty(loader.dataset):
            return f"the dataset has fewer rows than a batch of {loader.batch_size}"
        return None


def _is_empty(dataset: Any) -> bool:
    return hasattr(dataset, "__len__") and len(dataset) == 0
