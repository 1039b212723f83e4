from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, receiver, source
from ...training import in_a_test
from .. import needs
from .shared import CARES


@needs("abs(", "/")
def smape_zero_over_zero(code: Code) -> Iterator[Hit]:
    for node in code.all(ast.BinOp):
        if not isinstance(node.op, ast.Div):
            continue
        sizes = _sum_of_sizes(code, node.right)
        function = code.function(node)
        if (
            sizes
            and _has_difference(code, node.left, sizes)
            and not any(last_name(one.func) in CARES for one in code.calls_in(function))
            and not _is_asked_or_changed(code, node.right, function)
            and not _is_of_chosen_rows(code, node.right)
            and not in_a_test(code, node)
        ):
            yield Hit(node, f"{source(node)} is 0/0 = nan where both are 0")


def _sum_of_sizes(code: Code, node: ast.expr) -> set[str]:
    """The two operands of |a| + |b|, or of that times a number; empty for anything else."""
    value = code.value(node)
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Div, ast.Mult)):
        if constant(value.right) is not None:
            return _sum_of_sizes(code, value.left)
        return _sum_of_sizes(code, value.right) if constant(value.left) is not None else set()
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return set()
    sizes = [_size_of(code, value.left), _size_of(code, value.right)]
    return {ast.dump(one) for one in sizes if one is not None} if all(sizes) else set()


def _size_of(code: Code, node: ast.expr) -> ast.expr | None:
    """The x of x.abs(), torch.abs(x) and np.abs(x)."""
    value = code.value(node)
    if not isinstance(value, ast.Call) or last_name(value.func) not in ("abs", "absolute"):
        return None
    if code.full(value.func).startswith(("torch.", "numpy.")):
        return argument(value, 0, "input")
    return receiver(value) if not value.args else None


def _has_difference(code: Code, node: ast.expr, sizes: set[str]) -> bool:
    """Whether |a - b| of the same two is in it."""
    value = code.value(node)
    for one in ast.walk(value if value is not None else node):
        inner = _size_of(code, one) if isinstance(one, (ast.Name, ast.Call)) else None
        inner = code.value(inner) if inner is not None else None  # type: ignore[assignment]
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            return {ast.dump(inner.left), ast.dump(inner.right)} == sizes
    return False


def _is_asked_or_changed(code: Code, node: ast.expr, function: ast.AST) -> bool:
    """Whether the divisor is compared with something, written into or used as a mask."""
    name = path(node)
    if not name:
        return False
    for one in code.within(function, (ast.Compare, ast.Subscript, ast.Call)):
        found: list[str] = []
        if isinstance(one, ast.Compare):
            found = [path(one.left), path(one.comparators[0])]
        elif isinstance(one, ast.Subscript):
            found = [path(one.value)]
        elif last_name(one.func).endswith("_"):
            found = [path(receiver(one))]
        if name in found:
            return True
    return False


def _is_of_chosen_rows(code: Code, divisor: ast.expr) -> bool:
    """Whether it is of a[mask], which may leave out the rows where both are 0."""
    found = (code.value(one) for one in ast.walk(code.value(divisor) or divisor))
    kinds = (ast.Name, ast.Compare, ast.UnaryOp, ast.BinOp)
    return any(isinstance(one, ast.Subscript) and isinstance(one.slice, kinds) for one in found)
