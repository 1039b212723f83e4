from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path, receiver, source
from ...training import is_fragment
from .. import needs
from .shared import losses_with_score

LOGITS = ("binary_cross_entropy_with_logits", "BCEWithLogitsLoss")


@needs("> 0.5|>= 0.5|>0.5|>=0.5|.round(|torch.round(")
def logits_are_compared_with_one_half(code: Code) -> Iterator[Hit]:
    scores = [score for _, score in losses_with_score(code, *LOGITS) if path(score)]
    for node, compared in _compared(code):
        name = path(compared)
        if is_fragment(code) and name == "logits" and not code.values(compared):
            yield _hit(node, compared)
            continue
        for score in scores:
            if path(score) != name or code.function(score) is not code.function(node):
                continue
            if code.value(score) is code.value(compared) and _has_one_value(code, compared):
                yield _hit(node, compared)
                break


def _hit(node: ast.AST, score: ast.expr) -> Hit:
    return Hit(
        node, f"{source(score)} is a logit, so its sigmoid exceeds 0.5 if the logit exceeds 0"
    )


def _compared(code: Code) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yields (place, score) for score > 0.5, score.round() and torch.round(score)."""
    for compare in code.all(ast.Compare):
        is_greater = isinstance(compare.ops[0], (ast.Gt, ast.GtE))
        if is_greater and path(compare.left) and constant(compare.comparators[0]) == 0.5:
            yield compare, compare.left
    for call in code.calls.get("round", ()):
        score = call.args[0] if code.torch(call.func) == "round" and call.args else receiver(call)
        if score is not None and path(score) and code.full(call.func) != "round":
            yield call, score


def _has_one_value(code: Code, score: ast.expr) -> bool:
    """True unless the score is changed, for example by a sigmoid, on the way to the comparison."""
    value = code.value(score)
    return value is None or not (
        isinstance(value, ast.Call) and "sigmoid" in last_name(value.func).lower()
    )
