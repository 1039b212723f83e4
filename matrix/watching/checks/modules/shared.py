from __future__ import annotations

from ...events import Call


def is_stray(call: Call) -> bool:
    """True for a call of a layer that has parameters to train, but is no part of the model."""
    return (
        bool(call.parents)
        and call.grad
        and any(p.requires_grad for p in call.module.parameters(recurse=False))
        and all(call.module is not each for each in call.parents[0].modules())
    )
