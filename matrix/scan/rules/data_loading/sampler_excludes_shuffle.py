from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, path, source
from ...training import in_a_test
from .. import needs


@needs("sampler", "shuffle", "DataLoader")
def sampler_excludes_shuffle(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("DataLoader", ()):
        shuffle = argument(call, 2, "shuffle")
        if code.torch(call.func) != "DataLoader" or constant(shuffle) is not True:
            continue
        for name in ("sampler", "batch_sampler"):
            sampler = argument(call, -1, name)
            if sampler is None or in_a_test(code, call) or _may_be_none(code, sampler):
                continue
            yield Hit(
                call, f"shuffle=True together with {name}={source(sampler, 30)} raises an error"
            )


def _may_be_none(code: Code, node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _may_be_none(code, node.body) or _may_be_none(code, node.orelse)
    if isinstance(node, ast.Constant):
        return node.value is None
    values = code.values(node) if path(node) else []
    if isinstance(node, ast.Attribute) and not values:
        return True  # an attribute of a base class or of the options
    return any(value is None or _may_be_none(code, value) for value in values if value is not node)
