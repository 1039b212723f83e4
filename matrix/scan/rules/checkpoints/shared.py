"""Helpers for code that saves and loads checkpoints."""

from __future__ import annotations

import ast

from ...code import Code, constant, last_name, place, source
from ...training import backwards, functions_called, is_fragment


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
        if called is not function and backwards(code, called)
        for call in code.calls_in(function, called.name)
    )


RESUMES = frozenset("start_epoch resume resume_from resume_epoch resume_path start_iter".split())


def resumes(code: Code) -> bool:
    """True if the file trains, and can continue an earlier run, or is a fragment."""
    if is_fragment(code):
        return True
    used = {name.id for name in code.all(ast.Name)} | {
        part.attr for part in code.all(ast.Attribute)
    }
    if not code.calls.get("backward"):
        return False
    return bool(used & RESUMES) or any(_starts_later(loop) for loop in code.all(ast.For))


def _starts_later(loop: ast.For) -> bool:
    """True for `for epoch in range(start, end)`, whose start is not a number."""
    over = loop.iter
    return (
        isinstance(over, ast.Call)
        and last_name(over.func) in ("range", "trange")
        and len(over.args) > 1
        and constant(over.args[0]) is None
        and "epoch" in source(loop.target)
    )
