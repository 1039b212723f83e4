from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, is_none, path, place, source
from ...training import certain, in_a_test, is_fragment
from .. import needs


@needs("sampler", "shuffle", "DataLoader")
def sampler_excludes_shuffle(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("DataLoader", ()):
        shuffle = argument(call, 2, "shuffle")
        if code.torch(call.func) != "DataLoader" or constant(shuffle) is not True:
            continue
        for name in ("sampler", "batch_sampler"):
            sampler = argument(call, -1, name)
            if sampler is None or in_a_test(code, call) or not _is_given(code, sampler, call):
                continue
            yield Hit(
                call, f"shuffle=True together with {name}={source(sampler, 30)} raises an error"
            )


def _is_given(code: Code, node: ast.AST | None, call: ast.Call) -> bool:
    """True if the argument is a sampler, in at least some of the runs that make the loader."""
    if isinstance(node, ast.IfExp):
        return _is_given(code, node.body, call) or _is_given(code, node.orelse, call)
    if isinstance(node, ast.Call):
        return True
    if node is None or not path(node):
        return False
    if is_fragment(code):
        return True
    last = code.value(node)
    if last is not None and is_none(last) and certain(code, last, call):
        return False
    values = [value for value in code.values(node) if value is not None and not path(value)]
    return any(
        _is_given(code, value, call)
        for value in values
        if not code.excludes(value, call)
        and (code.function(value) is not code.function(call) or place(value) < place(call))
    )
