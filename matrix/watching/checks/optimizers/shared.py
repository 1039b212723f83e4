from __future__ import annotations

from typing import TYPE_CHECKING

from ...facts import parameters

if TYPE_CHECKING:
    import torch

    from ...run import Run


def listed(run: Run) -> set[int]:
    """The ids of the parameters of all optimizers."""
    return {id(p) for optimizer in run.facts.optimizers() for p in parameters(optimizer)}


def is_late(run: Run, optimizer: torch.optim.Optimizer) -> bool:
    """True if other optimizers may be unknown, because this one is older than the run."""
    gradients = run.facts.of(optimizer)
    return gradients.late and not gradients.steps
