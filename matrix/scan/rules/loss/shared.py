"""Helpers for the inputs of losses and the calls that computed them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, argument, path
from ...training import creating_call

KL_DIV = ("kl_div", "KLDivLoss")


def with_its_maker(code: Code, call: ast.Call) -> list[ast.Call]:
    """The call, and the call that created its criterion, which may have the options."""
    maker = creating_call(code, call.func) if path(call.func) else None
    return [call] if maker is None else [call, maker]


def losses_with_score(
    code: Code, function: str, module: str
) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Yields the calls that compute this loss, each with its first argument."""
    for call in code.all(ast.Call):
        score = argument(call, 0, "input")
        if score is None:
            continue
        if code.torch(call.func) == function:
            yield call, score
        elif isinstance(call.func, ast.Call) or path(call.func):
            maker = creating_call(code, call.func)
            if maker is not None and maker is not call and code.torch(maker.func) == module:
                yield call, score
