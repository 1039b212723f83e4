from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from ...origins import because, made_by_a
from .. import needs
from .shared import losses_with_score

CROSS_ENTROPY = ("cross_entropy", "CrossEntropyLoss")


@needs("cross_entropy|CrossEntropyLoss")
def softmax_before_cross_entropy(code: Code) -> Iterator[Hit]:
    for loss, score in losses_with_score(code, *CROSS_ENTROPY):
        if how := made_by_a(code, score, "softmax", "Softmax"):
            yield Hit(
                loss,
                f"{source(score)} is already the output of a softmax{because(score, how)}, and the "
                "loss applies another softmax",
            )
        elif how := made_by_a(code, score, "sigmoid", "Sigmoid"):
            yield Hit(
                loss,
                f"{source(score)} is the output of a sigmoid{because(score, how)}, and the loss "
                "applies a softmax to it",
            )
