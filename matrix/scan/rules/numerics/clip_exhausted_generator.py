from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import (
    COMPREHENSIONS,
    Code,
    Edit,
    Hit,
    argument,
    end,
    inserted,
    last_name,
    names,
    path,
    place,
    receiver,
    source,
)
from ...iterators import CLIPS, READERS, reader_to_the_end, yields_once
from .. import needs

AVERAGES = ("step", "copy_to", "store", "restore")  # such as EMA.step(parameters) in each step


@needs("clip_grad_|ema|clamp_", "filter(|map(|chain(|parameters()|for ")
def clip_exhausted_generator(code: Code) -> Iterator[Hit]:
    for call, parameters in [*_reads_of_parameters(code), *_clamped(code)]:
        by = source(call.func, 40) + "()" if isinstance(call, ast.Call) else "the loop"
        for name in _drawn(parameters):
            iterator = _iterator(code, name)
            if iterator is None:
                continue
            kind = f"{source(name)} is an iterator (line {place(iterator)[0]})"
            edits: tuple[Edit, ...] = (
                inserted(place(iterator), "list("),
                inserted(end(iterator), ")"),
            )
            drawn = [value for use in code.calls.get("next", ()) for value in use.args[:1]]
            if any(_iterator(code, value) is iterator for value in drawn):
                edits = ()  # next() does not accept a list
            early = _drained_before(code, iterator, call)
            if early is not None:
                yield Hit(
                    call,
                    f"{kind} that {source(early, 30)} on line {place(early)[0]} has used up, so "
                    f"{by} gets no parameters",
                    edits,
                )
                break
            if any(iterator not in ast.walk(loop) for loop in code.loops(call)):
                yield Hit(
                    call,
                    f"{kind}, so from the second iteration on, {by} gets no parameters",
                    edits,
                )
                break


def _clamped(code: Code) -> Iterator[tuple[ast.For, ast.expr]]:
    """Yields the loops that clamp the gradient of each parameter, and what they read."""
    for call in code.calls.get("clamp_", ()):
        loop = next(iter(code.loops(call)), None)
        if (
            isinstance(loop, ast.For)
            and path(loop.iter)
            and {"grad", path(loop.target)} <= names(call.func)
        ):
            yield loop, loop.iter


def _reads_of_parameters(code: Code) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Yields the calls that clip or average parameters, and the parameters they act on."""
    for name in CLIPS:
        for call in code.calls.get(name, ()):
            parameters = argument(call, 0, "parameters") or argument(call, -1, "params")
            if parameters is not None:
                yield call, parameters
    for name in AVERAGES:
        for call in code.calls.get(name, ()):
            if "ema" in last_name(receiver(call) or call).lower().split("_") and call.args:
                yield call, call.args[0]


def _drawn(node: ast.expr) -> list[ast.expr]:
    """The names of iterators that the expression reads to the end."""
    if isinstance(node, ast.IfExp):
        return _drawn(node.body) + _drawn(node.orelse)
    if isinstance(node, COMPREHENSIONS):
        return _drawn(node.generators[0].iter)
    if isinstance(node, ast.Starred):
        return _drawn(node.value)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [
            name
            for element in node.elts
            if isinstance(element, ast.Starred)
            for name in _drawn(element)
        ]
    if isinstance(node, ast.Call) and last_name(node.func) in {*READERS, "chain", "filter", "map"}:
        return [name for value in node.args for name in _drawn(value)]
    return [node] if path(node) else []


def _iterator(code: Code, name: ast.expr) -> ast.expr | None:
    """The value of the name if it can be read only once, or None."""
    value = code.value(name)
    for _ in range(5):  # follow other names for the same value
        if not path(value):
            break
        value = code.value(value)
    if value is None and isinstance(name, ast.Name):
        return _passed_iterator(code, name)
    return value if isinstance(value, ast.expr) and yields_once(code, value) else None


def _passed_iterator(code: Code, name: ast.Name) -> ast.expr | None:
    """The iterator that the calls in this file pass for a parameter, if all of them pass one."""
    function = code.function(name)
    if not isinstance(function, ast.FunctionDef) or len(code.values(name)) != 1:
        return None
    parameters = [parameter.arg for parameter in function.args.args]
    if name.id not in parameters:
        return None
    at = parameters.index(name.id) - isinstance(code.parent[function], ast.ClassDef)
    passed = [
        argument(call, at, name.id)
        for call in code.calls.get(function.name, ())
        if code.function(call) is not function
    ]
    made = [
        value if value is not None and yields_once(code, value) else None
        for value in (code.value(each) if each is not None else None for each in passed)
        if isinstance(value, ast.expr) or value is None
    ]
    return made[0] if made and None not in made else None


def _drained_before(code: Code, iterator: ast.expr, call: ast.AST) -> ast.AST | None:
    """The call or loop that reads the iterator to its end before this call."""
    here = code.function(call)
    for name in _uses(code, iterator):
        reader = reader_to_the_end(code, name)
        if reader is None or reader is call or code.excludes(reader, call):
            continue
        if call in ast.walk(reader):  # the call is inside the loop over the iterator
            continue
        reader_function = code.function(reader)
        if (
            place(reader) < place(call)
            if reader_function is here
            else reader_function is code.function(iterator)
        ):
            return reader
    return None


def _uses(code: Code, iterator: ast.expr) -> list[ast.expr]:
    """The places where the name of the iterator is read."""
    statement = code.statement(iterator)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    wanted = {path(target) for target in targets}
    return [
        use
        for kind in (ast.Name, ast.Attribute)
        for use in code.all(kind)
        if isinstance(use, (ast.Name, ast.Attribute))
        and isinstance(use.ctx, ast.Load)
        and path(use) in wanted
        and code.value(use) is iterator
    ]
