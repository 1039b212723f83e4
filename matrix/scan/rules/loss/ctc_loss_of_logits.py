from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, names, path, receiver, source
from ...origins import SHAPES, because, made_by_a
from .. import needs
from .shared import losses_with_score


@needs("ctc_loss|CTCLoss")
def ctc_loss_of_logits(code: Code) -> Iterator[Hit]:
    for loss, score in losses_with_score(code, "ctc_loss", "CTCLoss"):
        if how := made_by_a(code, score, "linear", "Linear"):
            yield Hit(
                loss,
                f"{source(score)} contains logits{because(score, how)}, but the loss needs "
                "log-probabilities",
            )
        elif _are_named_logits(code, score):
            yield Hit(loss, f"the loss needs log-probabilities, not {source(score)}")


def _are_named_logits(code: Code, score: ast.expr) -> bool:
    """True for a name with "logits", unless the file has a log_softmax() that may compute it."""
    if {"log_softmax", "LogSoftmax"} & names(code.tree):
        return False
    name = _before_reshaping(code, score)
    value = code.value(name)
    called = path(value.func).removeprefix("self.") if isinstance(value, ast.Call) else ""
    is_of_a_model = called != "" and "." not in called
    return "logits" in last_name(name) and (value is None or is_of_a_model)


def _before_reshaping(code: Code, node: ast.expr, depth: int = 4) -> ast.expr:
    """The x of x.permute(1, 0, 2) and of similar calls, traced through names."""
    value = code.value(node)
    inner = receiver(value) if isinstance(value, ast.Call) else None
    if inner is None or code.method(value) not in SHAPES or not depth:  # type: ignore[arg-type]
        return node
    return _before_reshaping(code, inner, depth - 1)
