from __future__ import annotations

from typing import TYPE_CHECKING

from ...facts import parameters

if TYPE_CHECKING:
    from ...run import Run


def listed(run: Run) -> set[int]:
    """The ids of the parameters of all optimizers."""
    return {id(p) for optimizer in run.facts.optimizers() for p in parameters(optimizer)}
