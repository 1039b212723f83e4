from __future__ import annotations

import random

import torch

from ...check import Check
from ...events import Batches


class WorkerGeneratorsAreClones(Check):
    level = "warning"
    change = "Seed the generator in each worker with worker_init_fn"

    def loader_started(self, batches: Batches) -> str | None:
        loader = batches.loader
        if loader.num_workers < 2 or loader.worker_init_fn is not None:
            return None
        for key, value in getattr(loader.dataset, "__dict__", {}).items():
            kind = type(value)
            numpy = kind.__module__.startswith("numpy.random")
            if isinstance(value, (torch.Generator, random.Random)) or numpy:
                return (
                    f"each of {loader.num_workers} workers has the same copy of the generator {key}"
                )
        return None
