from __future__ import annotations

from typing import Any

from ...check import Check
from ...events import Batches, tensors, version


class DatasetChangesItsTensor(Check):
    level = "error"
    change = "Copy the row in __getitem__() before you change it"

    def loader_started(self, batches: Batches) -> str | None:
        if batches.number > 1 and not batches.loader.num_workers:  # a cache is filled only once
            batches.notes["versions"] = _versions(batches.loader.dataset)
        return None

    def batch(self, batches: Batches, batch: Any) -> str | None:
        before = batches.notes.pop("versions", None)
        if before:
            for key, version in _versions(batches.loader.dataset).items():
                if version > before.get(key, version):
                    return f"reading rows changes the tensor {key} of the dataset itself"
        return None


def _versions(dataset: Any) -> dict[str, int]:
    """How often the tensors with the rows of the dataset were changed in place."""
    found = {}
    for key, value in getattr(dataset, "__dict__", {}).items():
        for number, tensor in enumerate(tensors(value, 1)):
            if tensor.dim() and len(tensor) == len(dataset):  # one row of the dataset each
                found[key if tensor is value else f"{key}[{number}]"] = version(tensor)
    return found
