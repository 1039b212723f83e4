from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path, receiver
from .. import needs

MOVES = ("to", "cuda", "cpu", "half", "double")


@needs("Parameter(")
def parameter_moved_in_init(code: Code) -> Iterator[Hit]:
    for call in (call for name in MOVES for call in code.calls.get(name, ())):
        made = receiver(call)
        if not isinstance(made, ast.Call) or code.torch(made.func) != "Parameter":
            continue
        statement = code.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            continue
        attribute = path(statement.targets[0])
        if attribute.startswith("self."):
            yield Hit(
                call,
                f"{last_name(call.func)}() returns a plain tensor, so {attribute} is not a "
                "parameter",
            )
