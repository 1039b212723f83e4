"""What checks of several families share."""

from __future__ import annotations

from typing import Any

import torch

from ..check import Check


def holds(obj: Any, key: str, depth: int = 3) -> bool:
    """True if nested dictionaries, lists and tuples contain a dictionary with this key."""
    if isinstance(obj, dict):
        return key in obj or (depth > 0 and any(holds(v, key, depth - 1) for v in obj.values()))
    if isinstance(obj, (list, tuple)):
        return depth > 0 and any(holds(v, key, depth - 1) for v in obj[:100])
    return False


class Resumed(Check):
    """Knows that the run was resumed: an optimizer has loaded a state that is not empty."""

    def __init__(self, run: Any) -> None:
        super().__init__(run)
        self.resumed = False

    def optimizer_loaded(
        self, optimizer: torch.optim.Optimizer, state: Any, before: Any
    ) -> str | None:
        self.resumed = bool(state.get("state"))
        return None
