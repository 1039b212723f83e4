from __future__ import annotations

import inspect
import random
from typing import Any

import torch

from ...check import Check
from ...events import Batches


class WorkerGeneratorsAreClones(Check):
    level = "warning"
    change = "Seed the generator in each worker with worker_init_fn"

    def loader_started(self, batches: Batches) -> str | None:
        loader = batches.loader
        if loader.num_workers < 2 or loader.worker_init_fn is not None or _seeds(loader.dataset):
            return None
        for key, value in getattr(loader.dataset, "__dict__", {}).items():
            kind = type(value)
            numpy = kind.__module__.startswith("numpy.random")
            if isinstance(value, (torch.Generator, random.Random)) or numpy:
                return (
                    f"each of {loader.num_workers} workers has the same copy of the generator {key}"
                )
        return None


def _seeds(dataset: Any) -> bool:
    """True if the dataset itself seeds its generator for each row or in each worker."""
    for name in ("__getitem__", "__iter__"):
        method = getattr(type(dataset), name, None)
        try:
            code = inspect.getsource(method) if method is not None else ""
        except (OSError, TypeError):  # code without a file
            continue
        if "seed" in code or "get_worker_info" in code:
            return True
    return False
