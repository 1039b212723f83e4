from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, last_name, source
from ...training import is_fragment
from .. import needs
from .shared import because, losses_with_score, made_by_a


@needs("ctc_loss|CTCLoss")
def ctc_loss_of_logits(code: Code) -> Iterator[Hit]:
    for loss, score in losses_with_score(code, "ctc_loss", "CTCLoss"):
        if is_fragment(code) and code.value(score) is None and "logits" in last_name(score):
            yield Hit(loss, f"the loss needs log-probabilities, not {source(score)}")
        elif how := made_by_a(code, score, "linear", "Linear"):
            yield Hit(
                loss,
                f"{source(score)} contains logits{because(score, how)}, but the loss needs "
                "log-probabilities",
            )
