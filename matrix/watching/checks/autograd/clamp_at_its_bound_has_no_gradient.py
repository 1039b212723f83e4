from __future__ import annotations

import torch

from ...check import Check
from ...events import Backward

BEFORE_2_14 = tuple(map(int, torch.__version__.split(".")[:2])) < (2, 14)


class ClampAtItsBoundHasNoGradient(Check):
    level = "warning"
    change = "Start the parameter inside the bounds, or clamp only the values outside of them"

    def before_backward(self, backward: Backward) -> str | None:
        if BEFORE_2_14:
            return None
        chosen = {
            each for node in backward.named("WhereBackward") for each, _ in node.next_functions
        }
        for node in backward.named("ClampBackward", "ClampMinBackward", "ClampMaxBackward"):
            if node in chosen:  # where() may pass the gradient on at the bounds
                continue
            leaf = getattr(node.next_functions[0][0], "variable", None)
            bounds = [getattr(node, f"_saved_{name}", None) for name in ("min", "max")]
            for bound in bounds:
                if leaf is not None and isinstance(bound, (int, float)):
                    self._compare(leaf, bound)
        return None

    def _compare(self, leaf: torch.Tensor, bound: float) -> None:
        name, total = self.run.facts.name_of(leaf), leaf.numel()
        self.ask(
            (leaf == bound).sum(),
            lambda count: (
                f"{count:.0f} of {total} values of {name} equal {bound}, a bound of clamp(), and"
                " have no gradient"
                if count
                else None
            ),
        )
