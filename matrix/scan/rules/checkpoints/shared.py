"""What is saved, and how it is loaded."""

from __future__ import annotations

import ast

from ...code import Code, place
from ...training import backwards, functions_called


def is_test(code: Code, node: ast.AST) -> bool:
    return getattr(code.function(node), "name", "").startswith("test")


def parts_of(code: Code, state: ast.AST) -> list[ast.AST]:
    """It, and what it is a part of."""
    found = [state]
    value = code.value(state)
    while isinstance(value, ast.Subscript):
        value = value.value
        found.append(value)
        value = code.value(value)
    return found


def is_written_before(code: Code, load: ast.Call) -> bool:
    """Whether the same run trains or saves before it loads: the best epoch, at the end. Also where
    it calls what does so.
    """
    function = code.function(load)
    if any(
        place(one) < place(load)
        for one in backwards(code, function) + code.calls_in(function, "save", "fit", "step")
    ):
        return True
    return any(
        place(call) < place(load)
        for called in functions_called(code, function)
        if called is not function and backwards(code, called)
        for call in code.calls_in(function, called.name)
    )
