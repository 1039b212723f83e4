from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from ...origins import because, made_by_a
from .. import needs
from .shared import losses_with_score


@needs("nll_loss|NLLLoss")
def nll_loss_of_probabilities(code: Code) -> Iterator[Hit]:
    for loss, score in losses_with_score(code, "nll_loss", "NLLLoss"):
        if how := made_by_a(code, score, "softmax", "Softmax"):
            yield Hit(
                loss,
                f"{source(score)} contains probabilities{because(score, how)}, but the loss needs "
                "their logarithms",
            )
