"""Helpers for code that saves and loads checkpoints."""

from __future__ import annotations

import ast

from ...code import Code, place
from ...training import backwards, functions_called


def is_test(code: Code, node: ast.AST) -> bool:
    return getattr(code.function(node), "name", "").startswith("test")


def parts_of(code: Code, state: ast.AST) -> list[ast.AST]:
    """The state itself, and the objects that contain the state."""
    parts = [state]
    value = code.value(state)
    while isinstance(value, ast.Subscript):
        value = value.value
        parts.append(value)
        value = code.value(value)
    return parts


def is_written_before(code: Code, load: ast.Call) -> bool:
    """True if the same run trains or saves before it loads, as when restoring the best epoch.

    The function may train directly or call another function that trains.
    """
    function = code.function(load)
    if any(
        place(call) < place(load)
        for call in backwards(code, function) + code.calls_in(function, "save", "fit", "step")
    ):
        return True
    return any(
        place(call) < place(load)
        for called in functions_called(code, function)
        if called is not function and _trains(code, called)
        for call in code.calls_in(function, called.name)
    )


def _trains(code: Code, function: ast.FunctionDef) -> bool:
    """True if the function trains, or calls a function that trains."""
    return any(backwards(code, each) for each in (function, *functions_called(code, function)))
