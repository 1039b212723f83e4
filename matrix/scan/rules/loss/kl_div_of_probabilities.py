from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, names, source
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
        elif _is_swapped(code, loss, score):
            yield Hit(
                loss,
                f"{source(score)} has been divided by its sum, but kl_div expects "
                "log-probabilities as its first argument",
            )


def _is_swapped(code: Code, loss: ast.Call, score: ast.expr) -> bool:
    """True if the target has log-probabilities, and the score the probabilities p / p.sum(...)."""
    target, given = argument(loss, 1, "target"), code.value(score)
    if target is None or argument(loss, -1, "log_target") is not None:
        return False
    return (
        _softened_for_certain(code, target, "log_softmax", "LogSoftmax")
        and isinstance(given, ast.BinOp)
        and isinstance(given.op, ast.Div)
        and certain(code, given, score)
        and "sum" in names(given.right)
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
