from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path, source
from .. import needs

TYPES = ("Tensor", "FloatTensor", "LongTensor")


@needs("Tensor(")
def tensor_of_a_size(code: Code) -> Iterator[Hit]:
    for call in (call for name in TYPES for call in code.calls.get(name, ())):
        if not code.torch(call.func) or len(call.args) != 1 or call.keywords:
            continue
        size = constant(call.args[0])
        if isinstance(size, int) and not isinstance(size, bool) and not _is_filled(code, call):
            value = size if last_name(call.func) == "LongTensor" else float(size)
            yield Hit(
                call,
                f"{source(call)} has {size} uninitialized numbers; use torch.tensor({value}) for "
                "the number",
            )


def _is_filled(code: Code, call: ast.Call) -> bool:
    """True if the code writes to the tensor, either in this statement or later."""
    above = code.parent[call]
    if isinstance(above, ast.Attribute):  # Tensor(3).uniform_(), Tensor(3).to(device)
        return True
    statement = code.statement(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call:
        return not isinstance(above, (ast.BinOp, ast.Compare))
    name = path(statement.targets[0])
    uses = [
        use
        for kind in (ast.Name, ast.Attribute)
        for use in code.all(kind)
        if path(use) == name and use is not statement.targets[0]
    ]
    return any(_writes(code, use) for use in uses)


def _writes(code: Code, use: ast.AST) -> bool:
    above = code.parent[use]
    if isinstance(above, ast.Subscript):
        return isinstance(above.ctx, ast.Store)
    if isinstance(above, ast.Attribute):
        return above.attr.endswith("_") or above.attr in ("data", "resize", "copy")
    return isinstance(above, (ast.Call, ast.keyword)) and last_name(
        above.func if isinstance(above, ast.Call) else use
    ).endswith("_")
