from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from ...origins import made_by_a
from .. import needs
from .shared import losses_with_score


@needs("binary_cross_entropy|BCELoss")
def bce_of_raw_outputs(code: Code) -> Iterator[Hit]:
    for loss, score in losses_with_score(code, "binary_cross_entropy", "BCELoss"):
        if how := made_by_a(code, score, "Linear", "Linear"):
            yield Hit(
                loss,
                f"{source(score)} can be any number ({how}), but the loss needs values from 0 to 1",
            )
