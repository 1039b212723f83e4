"""Datasets, loaders, samplers and copies between devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import COMPREHENSIONS, Code, Hit, argument, constant, end, last_name, path, place, source
from . import needs

GENERATORS = (
    "random.Random",
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "torch.Generator",
)
RESEEDS = ("seed", "manual_seed", "setstate", "set_state")
WAITS = ("wait", "sync", "barrier", "query")
BLOCKS = ("item", "tolist", "cpu", "numpy", "print", "info")  # each waits for the device
READS = (
    "numpy item tolist sum mean max min argmax any all clone save stack cat vstack hstack"  # noqa: SIM905
    " concat array asarray concatenate float int bool print equal allclose"
).split()


@needs("Random(|default_rng(|RandomState(|Generator(", "__getitem__")
def worker_generators_are_clones(code: Code) -> Iterator[Hit]:
    for owner in code.nodes.get(ast.ClassDef, ()):
        methods = {one.name: one for one in owner.body if isinstance(one, ast.FunctionDef)}  # type: ignore[attr-defined]
        if not ({"__init__", "__getitem__"} <= methods.keys() and _is_dataset(owner, methods)):
            continue
        for one in code.within(methods["__init__"], (ast.Assign, ast.AnnAssign)):
            target = one.targets[0] if isinstance(one, ast.Assign) else one.target
            made = _generator(code, one.value)
            name = path(target)
            if made is None or not name.startswith("self.") or len(code.values(target)) != 1:
                continue
            uses = [use for use in _reached(code, methods) if path(use) == name]
            if not uses or any(_reseeds(code, use) for use in ast.walk(owner)):
                continue
            if all(_in_a_while(code, use) for use in uses):  # another row instead of a broken one
                continue
            yield Hit(
                made,
                f"the workers of a DataLoader get equal copies of {name}: each draws the same "
                "numbers",
            )


def _is_dataset(owner: ast.AST, methods: dict[str, ast.FunctionDef]) -> bool:
    bases = [last_name(base) for base in getattr(owner, "bases", ())]
    known = any(name.endswith(("Dataset", "ImageFolder", "DatasetFolder")) for name in bases)
    return known and not any("Iterable" in name for name in bases) and "__iter__" not in methods


def _generator(code: Code, value: ast.expr | None) -> ast.Call | None:
    """The call that makes the generator: random.Random(0), `rng or default_rng()`,
    torch.Generator().manual_seed(0).
    """
    if isinstance(value, ast.IfExp):
        return _generator(code, value.body) or _generator(code, value.orelse)
    if isinstance(value, ast.BoolOp):
        return _generator(code, value.values[-1])
    if not isinstance(value, ast.Call):
        return None
    if code.full(value.func) in GENERATORS:
        return value
    inner = value.func.value if isinstance(value.func, ast.Attribute) else None
    return _generator(code, inner) if last_name(value.func) == "manual_seed" else None


def _reached(code: Code, methods: dict[str, ast.FunctionDef]) -> Iterator[ast.Attribute]:
    """The attributes that __getitem__ reads, also by way of other methods."""
    seen, todo = set(), ["__getitem__"]
    while todo:
        name = todo.pop()
        if name in seen or name not in methods:
            continue
        seen.add(name)
        for one in ast.walk(methods[name]):
            if isinstance(one, ast.Attribute) and path(one.value) == "self":
                todo.append(one.attr)
                if isinstance(one.ctx, ast.Load):
                    yield one


def _reseeds(code: Code, node: ast.AST) -> bool:
    """Whether it may give a worker's copy numbers of its own: a method that seeds, outside of
    __init__, or a question which worker this is.
    """
    if isinstance(node, ast.Name | ast.Attribute) and last_name(node) == "get_worker_info":
        return True
    function = code.function(node)
    return (
        isinstance(node, ast.Call)
        and last_name(node.func) in RESEEDS
        and isinstance(function, ast.FunctionDef)
        and function.name != "__init__"
    )


def _in_a_while(code: Code, node: ast.AST) -> bool:
    return any(isinstance(loop, ast.While) for loop in code.loops(node))


@needs("non_blocking", "cpu|pin_memory")
def nonblocking_to_host_races(code: Code) -> Iterator[Hit]:
    for copy in code.calls.get("to", []) + code.calls.get("copy_", []):
        if constant(argument(copy, -1, "non_blocking")) is not True:
            continue
        if last_name(copy.func) == "to" and not _is_cpu(code, _device(copy)):
            continue
        if last_name(copy.func) == "copy_" and not _is_pinned(code, copy):
            continue
        read = _read_of(code, copy)
        if read is not None and not _waits_between(code, copy, read):
            yield Hit(
                copy,
                f"{source(read, 40)} in line {place(read)[0]} reads what this copy may not have "
                "brought to the CPU yet",
            )


def _device(call: ast.Call) -> ast.expr | None:
    return argument(call, 0, "device")


def _is_cpu(code: Code, device: ast.expr | None) -> bool:
    value = code.value(device)
    if isinstance(value, ast.Call) and code.torch(value.func) == "device":
        value = argument(value, 0, "device")
    return constant(value) == "cpu"


def _is_pinned(code: Code, copy: ast.Call) -> bool:
    """Whether what is copied into is pinned memory, and the name of nothing else."""
    target = copy.func.value if isinstance(copy.func, ast.Attribute) else None
    value = code.value(target)
    if not path(target) or not isinstance(value, ast.Call):
        return False
    return constant(argument(value, -1, "pin_memory")) is True or (
        last_name(value.func) == "pin_memory"
    )


def _read_of(code: Code, copy: ast.Call) -> ast.AST | None:
    """What reads the copy on the CPU, first."""
    if last_name(copy.func) == "copy_" and isinstance(copy.func, ast.Attribute):
        return _first_read(code, path(copy.func.value), copy)
    if (read := _reads(code, copy)) is not None:
        return read
    above = code.parent[copy]
    if isinstance(above, COMPREHENSIONS):
        above = code.parent[above]
    if isinstance(above, ast.Assign) and len(above.targets) == 1:
        return _first_read(code, path(above.targets[0]), above)
    if isinstance(above, ast.Call) and last_name(above.func) == "append":
        return _first_read(code, path(above.func.value), above)  # type: ignore[attr-defined]
    return None


def _first_read(code: Code, name: str, after: ast.AST) -> ast.AST | None:
    """What reads this name, or a list that it is appended to, after this place."""
    function = code.function(after)
    for one in code.within(function, (ast.Name, ast.Attribute)):
        if path(one) != name or place(one) <= end(after) or code.excludes(one, after):
            continue
        if not isinstance(one.ctx, ast.Load):
            return None  # the name stands for something else now
        above = code.parent[one]
        if isinstance(above, ast.Call) and last_name(above.func) == "append":
            return _first_read(code, path(above.func.value), above)  # type: ignore[attr-defined]
        if (read := _reads(code, one) or _handed_on(code, one)) is not None:
            return read
    return None


def _handed_on(code: Code, name: ast.AST) -> ast.Return | None:
    """The `return data` after `data.x = name`: the caller cannot know that it has to wait."""
    statement = code.statement(name)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
        return None
    owner = path(statement.targets[0].value)
    returns = code.within(code.function(name), ast.Return)
    later = (one for one in returns if place(one) > place(statement))
    return next((one for one in later if owner and path(one.value) == owner), None)


def _reads(code: Code, node: ast.AST) -> ast.AST | None:
    """The call or comparison that reads the values of this."""
    above = code.parent[node]
    while isinstance(above, ast.Subscript) and node is above.value:
        node, above = above, code.parent[above]
    if isinstance(above, ast.BinOp):
        return above
    if isinstance(above, ast.Compare):
        known = any(isinstance(one, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for one in above.ops)
        return None if known else above
    if isinstance(above, ast.Attribute):
        called = code.parent[above]
        is_called = isinstance(called, ast.Call) and called.func is above
        return called if is_called and above.attr in READS else None
    if isinstance(above, ast.Call) and node is not above.func:
        return above if last_name(above.func) in READS else None
    return None


def _waits_between(code: Code, copy: ast.AST, read: ast.AST) -> bool:
    """Whether something between the two waits for the device."""
    for call in code.calls_in(code.function(copy)):
        if not end(copy) < place(call) < place(read) or read in ast.walk(call):
            continue
        name = last_name(call.func).lower()
        to_host = name == "to" and _is_cpu(code, _device(call))
        blocks = constant(argument(call, -1, "non_blocking")) is not True
        if any(word in name for word in WAITS) or name in BLOCKS or (to_host and blocks):
            return True
    return False
