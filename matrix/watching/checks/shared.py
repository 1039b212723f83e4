"""What checks of several families share."""

from __future__ import annotations

from typing import Any

import torch

from ..check import Check


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
