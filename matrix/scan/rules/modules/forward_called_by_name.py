from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, end, last_name, path, receiver, source
from ...training import in_a_test
from .. import needs


@needs(".forward(")
def forward_called_by_name(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("forward", ()):
        model = receiver(call)
        if model is None or not path(model) or path(model) in ("self", "cls"):
            continue
        if last_name(model)[:1].isupper() or _passes_self(call) or in_a_test(code, call):
            continue
        if _is_of_an_autograd_function(code, call):
            continue
        if not code.is_imported(model) and path(model) != "ctx":
            line, column = end(model)
            edit = Edit(line, column, *end(call.func), "")
            yield Hit(call, f"{source(call, 40)} skips the hooks of {source(model, 40)}", (edit,))


def _is_of_an_autograd_function(code: Code, call: ast.Call) -> bool:
    """True in forward(ctx, ...), which calls compiled extensions and not modules."""
    function = code.function(call)
    arguments = function.args.args if isinstance(function, ast.FunctionDef) else []
    return any(argument.arg == "ctx" for argument in arguments[:1])


def _passes_self(call: ast.Call) -> bool:
    return bool(call.args) and path(call.args[0]) == "self"  # Base.forward(self, x)
