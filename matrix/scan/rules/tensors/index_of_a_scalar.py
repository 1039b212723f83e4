from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, constant, end, last_name, path, source
from .. import needs

SCALARS = ("mean", "sum", "norm")


@needs(".data[0]")
def index_of_a_scalar(code: Code) -> Iterator[Hit]:
    for part in code.all(ast.Subscript):
        data = part.value
        if not isinstance(data, ast.Attribute) or data.attr != "data" or constant(part.slice) != 0:
            continue
        if isinstance(part.ctx, ast.Load) and _is_a_scalar(code, data.value):
            edit = Edit(*end(data.value), *end(part), ".item()")
            yield Hit(
                part,
                f"{source(data.value, 40)} has no dimensions, and [0] raises an error",
                (edit,),
            )


def _is_a_scalar(code: Code, node: ast.expr) -> bool:
    """True for a loss, judging by its name, and for the mean or sum of a whole tensor."""
    value = code.value(node)
    if isinstance(value, ast.Call) and last_name(value.func) in SCALARS:
        return not value.args and not value.keywords
    name = last_name(node).lower()
    return bool(path(node)) and ("loss" in name or name.startswith("err")) and "losses" not in name
