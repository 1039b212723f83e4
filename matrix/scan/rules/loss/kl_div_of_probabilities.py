from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, source
from ...origins import is_changed_in_place, is_softened
from ...training import certain
from .. import needs
from .shared import KL_DIV, losses_with_score


@needs("kl_div|KLDivLoss", "softmax|Softmax")
def kl_div_of_probabilities(code: Code) -> Iterator[Hit]:
    for loss, score in losses_with_score(code, *KL_DIV):
        if _softened_for_certain(code, score, "softmax", "Softmax"):
            yield Hit(
                loss,
                f"{source(score)} is the output of a softmax, but kl_div expects log-probabilities "
                "as its first argument",
            )


def _softened_for_certain(code: Code, score: ast.expr, function: str, module: str) -> bool:
    value = code.value(score)
    is_softmax = isinstance(value, ast.Call) and is_softened(code, value, function, module)
    return (
        is_softmax
        and value is not None
        and certain(code, value, score)
        and not is_changed_in_place(code, score, value)
    )
