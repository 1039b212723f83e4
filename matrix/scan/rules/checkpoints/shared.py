"""Helpers for code that saves and loads checkpoints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ...code import Code, argument, last_name, names, path, place, receiver, remembered
from ...project import Called, around, called, definition, imports, program
from ...training import (
    backwards,
    functions_called,
    is_fragment,
    is_optimizer,
    is_scaler,
    is_scheduler,
)

OTHERS = ("optim", "sched", "scaler")  # parts of names of objects with states that are not models


def is_test(code: Code, node: ast.AST) -> bool:
    return getattr(code.function(node), "name", "").startswith("test")


def torch_saves(code: Code) -> list[ast.Call]:
    return [call for call in code.calls.get("save", ()) if code.full(call.func) == "torch.save"]


def keys_of(code: Code) -> list[ast.expr | None]:
    """The keys of all dict displays and subscripts."""
    keys = [key for table in code.all(ast.Dict) for key in table.keys]
    return [*keys, *(part.slice for part in code.all(ast.Subscript))]


def parts_of(code: Code, state: ast.AST) -> list[ast.AST]:
    """The state itself, and the objects that contain the state."""
    parts = [state]
    value = code.value(state)
    while isinstance(value, ast.Subscript):
        value = value.value
        parts.append(value)
        value = code.value(value)
    return parts


class Restore(NamedTuple):
    """A call of a helper such as load_checkpoint(model, path), which loads states."""

    call: ast.Call
    found: Called
    objects: list[ast.expr]  # the arguments whose states the helper loads


@remembered
def restores(code: Code) -> list[Restore]:
    """The calls of functions with a name such as load_checkpoint() that load a model's state."""
    restored = []
    for name, calls in code.calls.items():
        if not any(word in name.lower() for word in ("load", "restore", "resume")):
            continue
        for call in calls:
            found = called(code, call)
            if found is None:
                continue
            loaded = {
                path(receiver(load)) for load in found.code.calls_in(found.node, "load_state_dict")
            }
            objects = [
                value
                for position, parameter in enumerate(found.parameters)
                if parameter in loaded
                and (value := argument(call, position, parameter)) is not None
            ]
            if any(is_a_model(code, each) for each in objects):
                restored.append(Restore(call, found, objects))
    return restored


def is_a_model(code: Code, node: ast.expr | None) -> bool:
    """True if the object with a state is not an optimizer, a scheduler or a scaler."""
    return (
        node is not None
        and last_name(node) != ""
        and not is_optimizer(code, node)
        and not is_scheduler(code, node)
        and not is_scaler(code, node)
    )


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

    Yields nothing if this or a nearby file removes the prefix, or loads a state into a model that
    may be wrapped. If only some runs wrap the model, the others cannot load the file, so only this
    file is searched.
    """
    removed = re.compile(
        rf"""["']{prefix}\b|\.{prefix}\.(load_)?state_dict|\.{prefix}\b.* (if|else)\b"""
        r"|state_dict_if_present"
    )
    states = code.calls.get("state_dict", [])
    own = list(around(code, prefix, "load_state_dict("))
    is_removed = any(removed.search(file.text) for file in own)
    may_load = any(_may_load_wrapped(file, wrappers) for file in own)
    for call in states:
        model = receiver(call)
        if model is None or not _is_wrapped(code, model, wrappers) or not _is_saved(code, call):
            continue
        if _is_wrapped_in_some_runs(code, model, wrappers) and may_load:
            is_found = not removed.search(code.text)
        else:
            is_found = not is_removed and not may_load
        if is_found:
            yield call, model
    others = [
        *_saved_by_a_helper(code, wrappers),
        *(
            (call, model)
            for call in states
            if (model := receiver(call)) is not None
            and _is_given(code, model)
            and _is_saved(code, call)
            and any(
                _passes_wrapped(each, code, model, wrappers) for each in program(code, *wrappers)
            )
        ),
    ]
    if others and not any(removed.search(file.text) for file in program(code, prefix)):
        yield from others


def _saved_by_a_helper(
    code: Code, wrappers: tuple[str, ...]
) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Yields the calls of helpers of another file that save the state of a wrapped model."""
    for name, calls in code.calls.items():
        if not any(word in name.lower() for word in ("save", "checkpoint", "ckpt")):
            continue
        for call in calls:
            found = definition(code, call.func)
            if found is None or found.code is code or not isinstance(found.node, ast.FunctionDef):
                continue
            saved = {
                path(receiver(state))
                for state in found.code.calls_in(found.node, "state_dict")
                if _is_saved(found.code, state)
            }
            parameters = [parameter.arg for parameter in found.node.args.args]
            for position, parameter in enumerate(parameters):
                model = argument(call, position, parameter) if parameter in saved else None
                if model is not None and _is_wrapped(code, model, wrappers):
                    yield call, model


def _is_given(code: Code, model: ast.expr) -> bool:
    """True for self.model if __init__() receives the model as a parameter."""
    values = code.values(model) if path(model).startswith("self.") else []
    return any(
        isinstance(value, ast.Name) and code.values(value) == [None]
        for value in values
        if value is not None
    )


def _passes_wrapped(other: Code, code: Code, model: ast.expr, wrappers: tuple[str, ...]) -> bool:
    """True if the other file imports this file, and wraps a model that it passes to a class."""
    if not imports(other, code):
        return False
    return any(
        last_name(value) == last_name(model) and _is_wrapped(other, value, wrappers)
        for call in other.all(ast.Call)
        if last_name(call.func)[:1].isupper() and last_name(call.func) not in wrappers
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]
    )


def loads_of_a_fragment(code: Code) -> Iterator[ast.Call]:
    """Yields a fragment's load_state_dict() calls that get a loaded state with unchanged keys."""
    if is_fragment(code) and "state_dict_if_present" not in code.text:
        for call in code.calls.get("load_state_dict", ()):
            if code.made_by(argument(call, 0, "state_dict"), "load"):
                yield call


def _is_wrapped(code: Code, model: ast.expr, wrappers: tuple[str, ...]) -> bool:
    """True if the name is a wrapped model in at least one branch."""
    value = code.value(model)
    is_shared = value is None or path(model).startswith("self.")  # by several functions
    values = code.values(model) if is_shared else [value]
    return path(model) != "" and any(_wraps(code, value, wrappers) for value in values)


def _is_wrapped_in_some_runs(code: Code, model: ast.expr, wrappers: tuple[str, ...]) -> bool:
    """True if a branch, such as `if torch.cuda.device_count() > 1:`, wraps the model."""
    return any(
        isinstance(value, ast.IfExp)
        or any("__name__" not in names(test) for test in code.conditions(value))
        for value in code.values(model)
        if value is not None and _wraps(code, value, wrappers)
    )


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
    saves = torch_saves(code)
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
