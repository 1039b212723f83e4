from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, receiver, source
from ...training import certain
from .. import needs


@needs("backward()", "requires_grad=True|requires_grad = True")
def rewrapped_in_a_tensor(code: Code) -> Iterator[Hit]:
    for backward in code.calls.get("backward", ()):
        loss = receiver(backward)
        value = code.value(loss) if loss is not None else None
        if loss is None or not isinstance(value, ast.Call) or not certain(code, value, loss):
            continue
        if code.torch(value.func) not in ("tensor", "Variable") or not value.args:
            continue
        wrapped = value.args[0]
        grad = argument(value, -1, "requires_grad")
        if constant(grad) is True and _is_computed(code, wrapped):
            yield Hit(
                value,
                f"{source(value)} is cut off from the graph of {source(wrapped, 40)}, so "
                "backward() reaches no parameter",
            )


def _is_computed(code: Code, wrapped: ast.expr) -> bool:
    """True if the value is a computed loss, judging by its name or by the call that computed it."""
    if isinstance(wrapped, ast.Attribute) and wrapped.attr == "data":
        wrapped = wrapped.value
    if isinstance(wrapped, (ast.List, ast.Tuple)):
        return bool(wrapped.elts) and all(_is_computed(code, element) for element in wrapped.elts)
    value = code.value(wrapped)
    if value is not wrapped and isinstance(value, (ast.Constant, ast.List, ast.Tuple)):
        return False
    if isinstance(wrapped, (ast.Name, ast.Attribute)):
        name = last_name(wrapped).lower()
        return "loss" in name and "weight" not in name
    return isinstance(wrapped, ast.Call) and "loss" in last_name(wrapped.func).lower()
