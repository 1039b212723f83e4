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
        given = value.args[0]
        grad = argument(value, -1, "requires_grad")
        if constant(grad) is True and _is_computed(code, given):
            yield Hit(
                value,
                f"{source(value)} is cut off from the graph of {source(given, 40)}, so backward() "
                "reaches no parameter",
            )


def _is_computed(code: Code, given: ast.expr) -> bool:
    """Whether it is what a model's output was made into, by its name or by what computed it."""
    if isinstance(given, ast.Attribute) and given.attr == "data":
        given = given.value
    if isinstance(given, (ast.List, ast.Tuple)):
        return bool(given.elts) and all(_is_computed(code, one) for one in given.elts)
    value = code.value(given)
    if value is not given and isinstance(value, (ast.Constant, ast.List, ast.Tuple)):
        return False
    if isinstance(given, (ast.Name, ast.Attribute)):
        name = last_name(given).lower()
        return "loss" in name and "weight" not in name
    return isinstance(given, ast.Call) and "loss" in last_name(given.func).lower()
