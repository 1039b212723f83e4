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
        indices = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
        flipped = [n for n, each in enumerate(indices) if _step(each) < 0]
        if not flipped or not _is_a_tensor(code, part.value):
            continue
        dimensions = ", ".join(str(_dimension(indices, n)) for n in flipped)
        flip = f"{source(part.value, 30)}.flip({dimensions})"
        is_whole = all(_is_whole(each) for each in indices)
        yield Hit(
            part,
            f"{source(part, 40)} raises an error for a tensor; "
            + (f"use {flip}" if is_whole else f"index {flip} instead, with positive steps"),
        )


def _step(index: ast.expr) -> int:
    step = constant(index.step) if isinstance(index, ast.Slice) else None
    return step if isinstance(step, int) else 1


def _dimension(indices: list[ast.expr], n: int) -> int:
    """The dimension that index n selects from. It is negative if the index follows an ellipsis."""
    used = [not (isinstance(each, ast.Constant) and each.value is None) for each in indices]
    if any(_is_ellipsis(each) for each in indices[:n]):
        return -sum(used[n:])
    return sum(used[:n])


def _is_ellipsis(index: ast.expr) -> bool:
    return isinstance(index, ast.Constant) and index.value is Ellipsis


def _is_whole(index: ast.expr) -> bool:
    """True for an index that keeps all elements: `...`, `:` and `::-1`."""
    if isinstance(index, ast.Slice):
        return index.lower is None and index.upper is None and _step(index) in (1, -1)
    return _is_ellipsis(index)


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
