"""Helpers for code that saves and loads checkpoints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, argument, last_name, path, place, receiver
from ...project import around
from ...training import backwards, functions_called, is_fragment

OTHERS = ("optim", "sched", "scaler")  # parts of names of objects with states that are not models


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


def saved_wrapped(
    code: Code, wrappers: tuple[str, ...], prefix: str
) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Yields each state_dict() call of a wrapped model, with the model, if the result is saved.

    Yields nothing if this or a nearby file mentions the prefix, or loads a state into a model that
    may be wrapped.
    """
    removed = re.compile(rf"""["'.]{prefix}\b|state_dict_if_present""")
    files = list(around(code, prefix, "load_state_dict("))
    if any(removed.search(file.text) for file in files):
        return
    if any(_may_load_wrapped(file, wrappers) for file in files):
        return
    for call in code.calls.get("state_dict", ()):
        model = receiver(call)
        if model is not None and _is_wrapped(code, model, wrappers) and _is_saved(code, call):
            yield call, model


def loads_of_a_fragment(code: Code) -> Iterator[ast.Call]:
    """Yields a fragment's load_state_dict() calls that get a loaded state with unchanged keys."""
    if is_fragment(code) and "state_dict_if_present" not in code.text:
        for call in code.calls.get("load_state_dict", ()):
            if code.made_by(argument(call, 0, "state_dict"), "load"):
                yield call


def _is_wrapped(code: Code, model: ast.expr, wrappers: tuple[str, ...]) -> bool:
    """True if the name is a wrapped model in at least one branch."""
    values = code.values(model) if path(model).startswith("self.") else [code.value(model)]
    return path(model) != "" and any(_wraps(code, value, wrappers) for value in values)


def _wraps(code: Code, value: ast.AST | None, wrappers: tuple[str, ...]) -> bool:
    if isinstance(value, ast.IfExp):
        return _wraps(code, value.body, wrappers) or _wraps(code, value.orelse, wrappers)
    while isinstance(value, ast.Call) and last_name(value.func) in ("to", "cuda"):
        value = receiver(value)
    if not isinstance(value, ast.Call):
        return False
    name = code.full(value.func)
    return name.startswith("torch.") and name.rpartition(".")[2] in wrappers


def _may_load_wrapped(code: Code, wrappers: tuple[str, ...]) -> bool:
    """True if the file loads a state into a model that is wrapped or unknown."""
    models = [receiver(call) for call in code.calls.get("load_state_dict", ())]
    return any(
        model is not None
        and not any(word in path(model).lower() for word in OTHERS)
        and (code.value(model) is None or _is_wrapped(code, model, wrappers))
        for model in models
    )


def _is_saved(code: Code, state: ast.Call) -> bool:
    """True if torch.save() receives the state, directly or in a dictionary."""
    saves = [call for call in code.calls.get("save", ()) if code.full(call.func) == "torch.save"]
    parts = [state, *code.ancestors(state)]
    if any(call in parts for call in saves):
        return True
    statement = code.statement(state)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    names = {path(target) for target in targets} - {""}
    return any(
        path(call.args[0]) in names and code.function(call) is code.function(state)
        for call in saves
        if call.args
    )
