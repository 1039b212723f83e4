from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import (
    COMPREHENSIONS,
    Code,
    Hit,
    argument,
    constant,
    end,
    last_name,
    path,
    place,
    source,
)
from .. import needs

WAITS = ("wait", "sync", "barrier", "query")
BLOCKS = ("item", "tolist", "cpu", "numpy", "print", "info")  # each of these waits for the device
READS = {
    *("numpy", "item", "tolist", "sum", "mean", "max", "min", "argmax", "any", "all", "clone"),
    *("save", "stack", "cat", "vstack", "hstack", "concat", "array", "asarray", "concatenate"),
    *("float", "int", "bool", "print", "equal", "allclose"),
}


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
                f"{source(read, 40)} on line {place(read)[0]} may read the tensor before this copy "
                "has finished",
            )


def _device(call: ast.Call) -> ast.expr | None:
    return argument(call, 0, "device")


def _is_cpu(code: Code, device: ast.expr | None) -> bool:
    value = code.value(device)
    if isinstance(value, ast.Call) and code.torch(value.func) == "device":
        value = argument(value, 0, "device")
    return constant(value) == "cpu"


def _is_pinned(code: Code, copy: ast.Call) -> bool:
    """True if the target of the copy is a name that refers to pinned memory."""
    target = copy.func.value if isinstance(copy.func, ast.Attribute) else None
    value = code.value(target)
    if not path(target) or not isinstance(value, ast.Call):
        return False
    return constant(argument(value, -1, "pin_memory")) is True or (
        last_name(value.func) == "pin_memory"
    )


def _read_of(code: Code, copy: ast.Call) -> ast.AST | None:
    """The first read of the copy on the CPU."""
    if last_name(copy.func) == "copy_" and isinstance(copy.func, ast.Attribute):
        return _first_host_read(code, path(copy.func.value), copy)
    if (read := _value_read(code, copy)) is not None:
        return read
    above = code.parent[copy]
    if isinstance(above, COMPREHENSIONS):
        above = code.parent[above]
    if isinstance(above, ast.Assign) and len(above.targets) == 1:
        return _first_host_read(code, path(above.targets[0]), above)
    if isinstance(above, ast.Call) and last_name(above.func) == "append":
        return _first_host_read(code, path(above.func.value), above)  # type: ignore[attr-defined]
    return None


def _first_host_read(code: Code, name: str, after: ast.AST) -> ast.AST | None:
    """The first read of the name after this place, or of a list to which it is appended."""
    function = code.function(after)
    for use in code.within(function, (ast.Name, ast.Attribute)):
        if path(use) != name or place(use) <= end(after) or code.excludes(use, after):
            continue
        if not isinstance(use.ctx, ast.Load):
            return None  # the name gets a new value
        above = code.parent[use]
        if isinstance(above, ast.Call) and last_name(above.func) == "append":
            return _first_host_read(code, path(above.func.value), above)  # type: ignore[attr-defined]
        if (read := _value_read(code, use) or _returned_after(code, use)) is not None:
            return read
    return None


def _returned_after(code: Code, name: ast.AST) -> ast.Return | None:
    """The `return data` after `data.x = name`. The caller does not know that it has to wait."""
    statement = code.statement(name)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Attribute):
        return None
    owner = path(statement.targets[0].value)
    returns = code.within(code.function(name), ast.Return)
    later = (returned for returned in returns if place(returned) > place(statement))
    return next((returned for returned in later if owner and path(returned.value) == owner), None)


def _value_read(code: Code, node: ast.AST) -> ast.AST | None:
    """The call or operation that reads the values of the node."""
    above = code.parent[node]
    while isinstance(above, ast.Subscript) and node is above.value:
        node, above = above, code.parent[above]
    if isinstance(above, ast.BinOp):
        return above
    if isinstance(above, ast.Compare):
        is_harmless = any(
            isinstance(operator, (ast.Is, ast.IsNot, ast.In, ast.NotIn)) for operator in above.ops
        )
        return None if is_harmless else above
    if isinstance(above, ast.Attribute):
        called = code.parent[above]
        is_called = isinstance(called, ast.Call) and called.func is above
        return called if is_called and above.attr in READS else None
    if isinstance(above, ast.Call) and node is not above.func:
        return above if last_name(above.func) in READS else None
    return None


def _waits_between(code: Code, copy: ast.AST, read: ast.AST) -> bool:
    """True if a call between the copy and the read waits for the device."""
    for call in code.calls_in(code.function(copy)):
        if not end(copy) < place(call) < place(read) or read in ast.walk(call):
            continue
        name = last_name(call.func).lower()
        to_host = name == "to" and _is_cpu(code, _device(call))
        blocks = constant(argument(call, -1, "non_blocking")) is not True
        if any(word in name for word in WAITS) or name in BLOCKS or (to_host and blocks):
            return True
        is_bare = isinstance(call.func, ast.Name) and not call.args and not call.keywords
        if is_bare and isinstance(code.parent[call], ast.Expr):  # for example, wait_for_all()
            return True
    return False
