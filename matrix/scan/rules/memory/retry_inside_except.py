from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path, source
from ...training import in_a_test
from .. import needs

SMALL = (
    "len", "str", "int", "range", "isinstance", "append", "zero_grad", "update", "info",
    "put", "send",
)  # fmt: skip


@needs("except", "Error", "memory|cache|OutOfMemory")
def retry_inside_except(code: Code) -> Iterator[Hit]:
    for handler in code.all(ast.ExceptHandler):
        tried = code.parent[handler]
        if not isinstance(tried, ast.Try) or not isinstance(handler, ast.ExceptHandler):
            continue
        if not _is_for_memory(handler) or in_a_test(code, handler):
            continue
        first = {path(call.func) for one in tried.body for call in code.calls_in(one)} - {""}
        for statement in handler.body:
            for call in code.calls_in(statement):
                if path(call.func) in first and _is_work(call) and not _lets_go(code, call):
                    yield Hit(
                        call,
                        f"{source(call.func)}() runs again while the exception still holds the "
                        "tensors of the first run",
                    )


def _is_for_memory(handler: ast.ExceptHandler) -> bool:
    """Whether it handles running out of memory: by its class, its text or what it cleans up."""
    if handler.type is None:
        return False
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if any(last_name(one) == "OutOfMemoryError" for one in parts):
        return True
    if not any(last_name(one) == "RuntimeError" for one in parts):
        return False
    return any(
        (isinstance(one, ast.Constant) and "out of memory" in str(one.value).lower())
        or (isinstance(one, ast.Call) and last_name(one.func) == "empty_cache")
        for statement in handler.body
        for one in ast.walk(statement)
    )


def _is_work(call: ast.Call) -> bool:
    """Whether it may need memory of the device again: no printing, no second try on the CPU."""
    name, short = path(call.func), last_name(call.func)
    given = [*call.args, *(one.value for one in call.keywords)]
    if name.startswith(("torch.", "gc.", "time.", "os.", "warnings.")):
        return False
    if all(isinstance(one, ast.Constant) and not isinstance(one.value, int) for one in given):
        return False  # None or a text: it is told of the failure
    if short.startswith(("print", "log")) or short in SMALL:
        return False
    return not any(constant(one) == "cpu" for one in ast.walk(call))


def _lets_go(code: Code, call: ast.Call) -> bool:
    """Whether the function deletes what it holds before its error leaves it."""
    return any(
        getattr(function, "name", "") == last_name(call.func)
        and isinstance(handler, ast.ExceptHandler)
        for deleted in code.all(ast.Delete)
        for function in [code.function(deleted)]
        for handler in code.ancestors(deleted)
    )
