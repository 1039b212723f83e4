from __future__ import annotations

import weakref
from typing import Any

import torch

from ...check import Check
from ...events import Backward


class AnomalyModeMissesInf(Check):
    level = "error"
    change = "After backward(), call isfinite() on each gradient"

    def after_backward(self, backward: Backward) -> str | None:
        if torch.is_anomaly_enabled() and not backward.scaled:
            for leaf in backward.leaves:
                if leaf.grad is not None and not leaf.grad.is_sparse:
                    self._ask(leaf.grad, weakref.ref(leaf))
        return None

    def _ask(self, gradient: torch.Tensor, leaf: Any) -> None:
        self.ask(
            gradient.isinf().any() & ~gradient.isnan().any(),
            lambda infinite: self._name(leaf()) if infinite else None,
        )

    def _name(self, leaf: Any) -> str:
        name = "a tensor" if leaf is None else self.run.facts.name_of(leaf)
        return f"the gradient of {name} is infinite, which anomaly mode does not report"
