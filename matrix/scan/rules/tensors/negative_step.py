from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path, source
from ...training import is_fragment
from .. import needs

MADE = ("zeros", "randn", "rand", "cat", "stack", "tensor", "from_numpy", "arange", "empty", "ones")


@needs("::-")
def negative_step(code: Code) -> Iterator[Hit]:
    for part in code.all(ast.Subscript):
        slices = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
        for dimension, each in enumerate(slices):
            step = constant(each.step) if isinstance(each, ast.Slice) else None
            if isinstance(step, int) and step < 0 and _is_a_tensor(code, part.value):
                yield Hit(
                    part,
                    f"{source(part, 40)} raises an error for a tensor; use "
                    f"{source(part.value, 30)}.flip({dimension})",
                )


def _is_a_tensor(code: Code, node: ast.expr) -> bool:
    value = code.value(node)
    if is_fragment(code) and path(node) == "returns" and not isinstance(value, ast.Call):
        return True
    while isinstance(value, ast.Call) and last_name(value.func) in ("to", "float", "cuda", "view"):
        value = code.value(getattr(value.func, "value", None))
    return (
        isinstance(value, ast.Call)
        and code.full(value.func).startswith("torch.")
        and (code.torch(value.func) in MADE)
    )
