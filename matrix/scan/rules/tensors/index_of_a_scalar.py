from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, constant, end, last_name, path, receiver, source
from ...training import backward_of, is_backward
from .. import needs

SCALARS = ("mean", "sum", "norm")


@needs(".data[0]|numpy()[0]")
def index_of_a_scalar(code: Code) -> Iterator[Hit]:
    for part in code.all(ast.Subscript):
        if constant(part.slice) != 0 or not isinstance(part.ctx, ast.Load):
            continue
        tensor = _indexed(part.value)
        is_array = isinstance(part.value, ast.Call)
        if tensor is None or (is_array and not _is_trained(code, tensor)):
            continue
        if _is_a_scalar(code, tensor):
            edit = Edit(*end(tensor), *end(part), ".item()")
            yield Hit(
                part, f"{source(tensor, 40)} has no dimensions, so [0] raises an error", (edit,)
            )


def _indexed(node: ast.expr) -> ast.expr | None:
    """The tensor of x.data and x.data.cpu().numpy(), or None."""
    if isinstance(node, ast.Attribute) and node.attr == "data":
        return node.value
    if not isinstance(node, ast.Call) or last_name(node.func) != "numpy":
        return None
    inner = receiver(node)
    while isinstance(inner, ast.Call) and last_name(inner.func) in ("cpu", "detach"):
        inner = receiver(inner)
    return inner.value if isinstance(inner, ast.Attribute) and inner.attr == "data" else inner


def _is_a_scalar(code: Code, node: ast.expr) -> bool:
    """True for a loss, judging by its name, and for the mean or sum of a whole tensor."""
    value = code.value(node)
    if isinstance(value, ast.Call) and last_name(value.func) in SCALARS:
        return not value.args and not value.keywords
    name = last_name(node).lower()
    return bool(path(node)) and ("loss" in name or name.startswith("err")) and "losses" not in name


def _is_trained(code: Code, tensor: ast.expr) -> bool:
    """True if the code calls backward() on a tensor of this name, which must be a scalar."""
    return any(
        is_backward(call) and (loss := backward_of(call)) is not None and path(loss) == path(tensor)
        for call in code.calls.get("backward", ())
    )
