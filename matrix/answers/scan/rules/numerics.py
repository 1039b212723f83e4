"""Values that are nan, infinite or not what they are called."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import COMPREHENSIONS, Code, Hit, argument, last_name, path, place, receiver, source
from ..training import OPTIMIZERS
from . import needs

CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grad_value")
READERS = {"list", "tuple", "set", "sum", "sorted", "max", "min", "dict", "all", "any"}
AVERAGES = ("step", "copy_to", "store", "restore")  # EMA.step(parameters), in each step


@needs("clip_grad_|ema", "filter(|map(|chain(|parameters()|for ")
def clip_exhausted_generator(code: Code) -> Iterator[Hit]:
    for call, given in _reads_of_parameters(code):
        for name in _drawn(given):
            made = _iterator(code, name)
            if made is None:
                continue
            kind = f"{source(name)} is an iterator (line {place(made)[0]})"
            early = _first_read(code, made, call)
            if early is not None:
                yield Hit(
                    call,
                    f"{kind} that {source(early, 30)} in line {place(early)[0]} has used up: "
                    f"{source(call.func, 40)}() gets no parameters",
                )
                break
            if any(made not in ast.walk(loop) for loop in code.loops(call)):
                yield Hit(
                    call,
                    f"{kind}: from the second pass of the loop on, {source(call.func, 40)}() gets "
                    "no parameters",
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
    if isinstance(node, ast.Call) and last_name(node.func) in {
        *READERS,
        "chain",
        "filter",
        "map",
    }:
        return [name for one in node.args for name in _drawn(one)]
    return [node] if path(node) else []


def _iterator(code: Code, name: ast.expr) -> ast.expr | None:
    """What the name was given, if that is parameters that can be read only once."""
    value = code.value(name)
    for _ in range(5):  # other names for the same
        if not path(value):
            break
        value = code.value(value)
    if isinstance(value, ast.GeneratorExp):
        return value
    if not isinstance(value, ast.Call):
        return None
    once = code.full(value.func) in ("filter", "map", "itertools.chain")
    once = once or last_name(value.func) == "from_iterable"
    once = once or (
        last_name(value.func) in ("parameters", "named_parameters")
        and isinstance(value.func, ast.Attribute)
    )
    return value if once else None


def _first_read(code: Code, made: ast.expr, call: ast.Call) -> ast.AST | None:
    """What reads the iterator to its end before this call does."""
    here = code.function(call)
    for name in _uses(code, made):
        reader = _reader(code, name)
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
        for one in code.nodes.get(kind, ())
        if isinstance(one, (ast.Name, ast.Attribute))
        and isinstance(one.ctx, ast.Load)
        and path(one) in wanted
        and code.value(one) is made
    ]


def _reader(code: Code, name: ast.AST) -> ast.AST | None:
    """The call or loop that reads the iterator to its end, if what becomes of it is certain."""
    inner, above = name, code.parent[name]
    while isinstance(above, (ast.Dict, ast.List, ast.Tuple, ast.keyword, ast.Starred, ast.IfExp)):
        inner, above = above, code.parent[above]
    if isinstance(above, ast.For) and inner is above.iter:
        return above
    if isinstance(above, ast.comprehension) and inner is above.iter:
        above = code.parent[above]
        return above if not isinstance(above, ast.GeneratorExp) else _reader(code, above)
    if isinstance(above, ast.Call) and inner is not above.func:
        called = last_name(above.func)
        if called in ("chain", "filter", "map"):
            return _reader(code, above)
        if called in READERS and isinstance(inner, ast.Starred | ast.expr):
            return above if inner is name or isinstance(name, ast.GeneratorExp) else None
        if called in (*CLIPS, *OPTIMIZERS) or "optim" in called.lower():
            return above
        if "ema" in called.lower() or "optim" in path(above.func).lower():
            return above
        return None
    if isinstance(above, ast.Assign) and inner is not name and len(above.targets) == 1:
        groups = path(above.targets[0])  # [{"params": parameters}]
        later = [
            one
            for one in code.within(code.function(above), ast.Name)
            if one.id == groups and isinstance(one.ctx, ast.Load) and place(one) > place(above)
        ]
        readers = (_reader(code, one) for one in later)
        return next((one for one in readers if _is_optimizer_call(one)), None)
    return None


def _is_optimizer_call(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and (
        last_name(node.func) in OPTIMIZERS or "optim" in last_name(node.func).lower()
    )
