from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, names, path, source
from .. import needs
from .shared import (
    configured,
    count_of,
    counts_batches,
    has_factor,
    is_of_epochs,
    is_over_batches,
    maker_calls,
    steps_of,
)


@needs("CosineAnnealingLR", "step|configure_optimizers")
def cosine_rises_again(code: Code) -> Iterator[Hit]:
    for maker in maker_calls(code, "CosineAnnealingLR"):
        length = argument(maker, 1, "T_max")
        if length is None or not _counts_epochs(code, length):
            continue
        places = [
            step for step in steps_of(code, maker) if _is_per_batch(code, step, length)
        ] or configured(code, maker, "step")
        if places:
            yield Hit(
                places[0],
                f"the scheduler is stepped per batch, but T_max={source(length)} counts epochs",
            )


def _is_per_batch(code: Code, step: ast.Call, length: ast.expr) -> bool:
    loops = code.loops(step)
    if step.args or step.keywords:  # step(epoch + i / batches)
        return False
    if not loops or code.parent[code.statement(step)] is not loops[0]:
        return False
    if isinstance(loops[0], ast.While):
        return False
    if is_over_batches(loops[0]) and "range" not in names(loops[0].iter):
        return True
    count = count_of(loops[0])
    return count is not None and count is not length and has_factor(code, count, length)


def _counts_epochs(code: Code, length: ast.expr) -> bool:
    """True if the name suggests a number of epochs, and the value does not count batches."""
    if not path(length) or not is_of_epochs(last_name(length)):
        return False
    value = code.value(length)
    return not (isinstance(value, ast.expr) and value is not length and counts_batches(code, value))
