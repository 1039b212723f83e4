from __future__ import annotations

from typing import Any

import torch

from ...check import Check
from ...events import Batches, tensors


class IterableDatasetDuplicates(Check):
    level = "error"
    change = "Give each worker its own rows: see get_worker_info()"

    def batch(self, batches: Batches, batch: Any) -> str | None:
        loader = batches.loader
        if loader.num_workers < 2 or not isinstance(
            loader.dataset, torch.utils.data.IterableDataset
        ):
            return None
        first = next(iter(tensors(batch)), None)
        if first is None or batches.count > 2 or loader.batch_size is None:
            return None
        if batches.count == 1:
            batches.notes["first"] = first
            return None
        other = batches.notes.pop("first", None)
        if other is not None and other.shape == first.shape and other.dtype == first.dtype:
            self.ask(
                (other != first).sum(),
                lambda count: None if count else "the first batches of two workers are equal",
            )
        return None
