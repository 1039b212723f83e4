from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from ...origins import because, made_by_a
from .. import needs
from .shared import losses_with_score

BCE_WITH_LOGITS = ("binary_cross_entropy_with_logits", "BCEWithLogitsLoss")


@needs("_with_logits|BCEWithLogitsLoss")
def sigmoid_before_bce_with_logits(code: Code) -> Iterator[Hit]:
    for loss, score in losses_with_score(code, *BCE_WITH_LOGITS):
        if how := made_by_a(code, score, "sigmoid", "Sigmoid"):
            yield Hit(
                loss,
                f"{source(score)} is already the output of a sigmoid{because(score, how)}, and the "
                "loss applies another sigmoid",
            )
