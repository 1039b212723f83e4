from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, argument, is_none, source
from .. import needs
from .shared import maker_calls, stepped_per_epoch


@needs("OneCycleLR", "step|configure_optimizers")
def one_cycle_stays_in_its_warmup(code: Code) -> Iterator[Hit]:
    for maker in maker_calls(code, "OneCycleLR"):
        total = argument(maker, 2, "total_steps")
        if total is None or is_none(total):
            total = argument(maker, 4, "steps_per_epoch")
        if total is None:
            continue
        if (at := stepped_per_epoch(code, maker, total)) is not None:
            yield Hit(
                at,
                f"the scheduler is stepped per epoch, but the length of the cycle, "
                f"{source(total)}, counts batches",
            )
