from __future__ import annotations

from typing import Any

from ...check import Check
from ...events import Batches


class NextIterRestartsTheLoader(Check):
    level = "warning"
    change = "Create the iterator once, and call next() on it in the loop"

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self._last: dict[int, tuple[Batches, int]] = {}  # by loader: its last iterator, restarts

    def loader_started(self, batches: Batches) -> str | None:
        last, restarts = self._last.get(id(batches.loader), (None, 0))
        if (
            last is not None
            and last.loader is batches.loader
            and last.count == 1
            and not last.ended
            and batches.step == last.step + 1  # otherwise a look at some rows
            and not _has_one_batch(batches.loader)
        ):
            restarts += 1
        else:
            restarts = 0
        self._last[id(batches.loader)] = batches, restarts
        if restarts == 2:
            return "the loader was started three times, and only its first batch was read each time"
        return None


def _has_one_batch(loader: Any) -> bool:
    try:
        return len(loader) == 1
    except TypeError:  # the dataset has no length
        return False
