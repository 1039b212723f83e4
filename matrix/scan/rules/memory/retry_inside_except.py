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
        first = {path(call.func) for part in tried.body for call in code.calls_in(part)} - {""}
        for statement in handler.body:
            for call in code.calls_in(statement):
                if path(call.func) in first and _is_work(call) and not _frees_memory(code, call):
                    yield Hit(
                        call,
                        f"{source(call.func)}() runs again while the exception still keeps the "
                        "first run's tensors alive",
                    )


def _is_for_memory(handler: ast.ExceptHandler) -> bool:
    """True if the handler is for running out of memory, judging by its class, text or cleanup."""
    if handler.type is None:
        return False
    parts = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    if any(last_name(kind) == "OutOfMemoryError" for kind in parts):
        return True
    if not any(last_name(kind) == "RuntimeError" for kind in parts):
        return False
    return any(
        (isinstance(part, ast.Constant) and "out of memory" in str(part.value).lower())
        or (isinstance(part, ast.Call) and last_name(part.func) == "empty_cache")
        for statement in handler.body
        for part in ast.walk(statement)
    )


def _is_work(call: ast.Call) -> bool:
    """True if the call may use device memory again, unlike printing or a retry on the CPU."""
    name, short = path(call.func), last_name(call.func)
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if name.startswith(("torch.", "gc.", "time.", "os.", "warnings.")):
        return False
    if all(
        isinstance(value, ast.Constant) and not isinstance(value.value, int) for value in values
    ):
        return False  # with None or a text, the call reports the failure
    if short.startswith(("print", "log")) or short in SMALL:
        return False
    return not any(constant(part) == "cpu" for part in ast.walk(call))


def _frees_memory(code: Code, call: ast.Call) -> bool:
    """True if the called function deletes its objects before it propagates an error."""
    return any(
        getattr(function, "name", "") == last_name(call.func)
        and isinstance(handler, ast.ExceptHandler)
        for deleted in code.all(ast.Delete)
        for function in [code.function(deleted)]
        for handler in code.ancestors(deleted)
    )
