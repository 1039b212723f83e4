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
        own = [*tensors(batch)]
        if not own or batches.count > 2 or loader.batch_size is None:
            return None
        if batches.count == 1:
            batches.notes["first"] = own
            return None
        pairs = [*zip(batches.notes.pop("first", []), own)]
        if pairs and all(a.shape == b.shape and a.dtype == b.dtype for a, b in pairs):
            differ = torch.stack([(a != b).sum() for a, b in pairs]).sum()
            made_up = [(a == 0).all() for a, _ in pairs if a.dim() > 1]
            if made_up:
                differ = differ + torch.stack(made_up).all()
            self.ask(
                differ,
                lambda count: None if count else "the first batches of two workers are equal",
            )
        return None
