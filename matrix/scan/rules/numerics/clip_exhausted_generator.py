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
    path,
    place,
    receiver,
    source,
)
from ...iterators import CLIPS, READERS, reader_to_the_end, yields_once
from .. import needs

AVERAGES = ("step", "copy_to", "store", "restore")  # EMA.step(parameters), in each step


@needs("clip_grad_|ema", "filter(|map(|chain(|parameters()|for ")
def clip_exhausted_generator(code: Code) -> Iterator[Hit]:
    for call, given in _reads_of_parameters(code):
        for name in _drawn(given):
            made = _iterator(code, name)
            if made is None:
                continue
            kind = f"{source(name)} is an iterator (line {place(made)[0]})"
            edits: tuple[Edit, ...] = (inserted(place(made), "list("), inserted(end(made), ")"))
            drawn = [one for use in code.calls.get("next", ()) for one in use.args[:1]]
            if any(_iterator(code, one) is made for one in drawn):
                edits = ()  # next() takes no list
            early = _drained_before(code, made, call)
            if early is not None:
                yield Hit(
                    call,
                    f"{kind} that {source(early, 30)} in line {place(early)[0]} has used up, so "
                    f"{source(call.func, 40)}() gets no parameters",
                    edits,
                )
                break
            if any(made not in ast.walk(loop) for loop in code.loops(call)):
                yield Hit(
                    call,
                    f"{kind}: from the second iteration on, {source(call.func, 40)}() gets no "
                    "parameters",
                    edits,
                )
                break


def _reads_of_parameters(code: Code) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls that clip or average parameters, and the parameters."""
    for name in CLIPS:
        for call in code.calls.get(name, ()):
            given = argument(call, 0, "parameters") or argument(call, -1, "params")
            if given is not None:
                yield call, given
    for name in AVERAGES:
        for call in code.calls.get(name, ()):
            if "ema" in last_name(receiver(call) or call).lower().split("_") and call.args:
                yield call, call.args[0]


def _drawn(node: ast.expr) -> list[ast.expr]:
    """The names that are read to the end where this is."""
    if isinstance(node, ast.IfExp):
        return _drawn(node.body) + _drawn(node.orelse)
    if isinstance(node, COMPREHENSIONS):
        return _drawn(node.generators[0].iter)
    if isinstance(node, ast.Starred):
        return _drawn(node.value)
    if isinstance(node, (ast.List, ast.Tuple)):
        return [name for one in node.elts if isinstance(one, ast.Starred) for name in _drawn(one)]
    if isinstance(node, ast.Call) and last_name(node.func) in {*READERS, "chain", "filter", "map"}:
        return [name for one in node.args for name in _drawn(one)]
    return [node] if path(node) else []


def _iterator(code: Code, name: ast.expr) -> ast.expr | None:
    """What the name was given, if that is parameters that can be read only once."""
    value = code.value(name)
    for _ in range(5):  # other names for the same
        if not path(value):
            break
        value = code.value(value)
    return value if isinstance(value, ast.expr) and yields_once(code, value) else None


def _drained_before(code: Code, made: ast.expr, call: ast.Call) -> ast.AST | None:
    """What reads the iterator to its end before this call does."""
    here = code.function(call)
    for name in _uses(code, made):
        reader = reader_to_the_end(code, name)
        if reader is None or reader is call or code.excludes(reader, call):
            continue
        if call in ast.walk(reader):  # the call is in the loop over the iterator
            continue
        there = code.function(reader)
        if place(reader) < place(call) if there is here else there is code.function(made):
            return reader
    return None


def _uses(code: Code, made: ast.expr) -> list[ast.expr]:
    """The places that read a name that was given this."""
    statement = code.statement(made)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    wanted = {path(one) for one in targets}
    return [
        one
        for kind in (ast.Name, ast.Attribute)
        for one in code.all(kind)
        if isinstance(one, (ast.Name, ast.Attribute))
        and isinstance(one.ctx, ast.Load)
        and path(one) in wanted
        and code.value(one) is made
    ]
