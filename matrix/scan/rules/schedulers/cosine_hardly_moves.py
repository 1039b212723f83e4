from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, argument, source
from .. import needs
from .shared import maker_calls, stepped_per_epoch


@needs("CosineAnnealingLR", "step|configure_optimizers")
def cosine_hardly_moves(code: Code) -> Iterator[Hit]:
    for maker in maker_calls(code, "CosineAnnealingLR"):
        length = argument(maker, 1, "T_max")
        if length is None:
            continue
        if (at := stepped_per_epoch(code, maker, length)) is not None:
            yield Hit(
                at, f"the scheduler is stepped per epoch, but T_max={source(length)} counts batches"
            )
