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
        sizes = _summed_sizes(code, node.right)
        function = code.function(node)
        if (
            sizes
            and _has_difference(code, node.left, sizes)
            and not any(last_name(call.func) in CARES for call in code.calls_in(function))
            and not _is_tested_or_changed(code, node.right, function)
            and not _uses_chosen_rows(code, node.right)
            and not in_a_test(code, node)
        ):
            yield Hit(node, f"{source(node)} is 0 / 0 = nan where both values are 0")


def _summed_sizes(code: Code, node: ast.expr) -> set[str]:
    """The operands of |a| + |b|, possibly times a number. Empty for other expressions."""
    value = code.value(node)
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Div, ast.Mult)):
        if constant(value.right) is not None:
            return _summed_sizes(code, value.left)
        return _summed_sizes(code, value.right) if constant(value.left) is not None else set()
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Add):
        return set()
    sizes = [_size_of(code, value.left), _size_of(code, value.right)]
    return {ast.dump(size) for size in sizes if size is not None} if all(sizes) else set()


def _size_of(code: Code, node: ast.expr) -> ast.expr | None:
    """The argument of an absolute value, such as x in x.abs(), torch.abs(x) and np.abs(x)."""
    value = code.value(node)
    if not isinstance(value, ast.Call) or last_name(value.func) not in ("abs", "absolute"):
        return None
    if code.full(value.func).startswith(("torch.", "numpy.")):
        return argument(value, 0, "input")
    return receiver(value) if not value.args else None


def _has_difference(code: Code, node: ast.expr, sizes: set[str]) -> bool:
    """True if the node contains |a - b| with the same two operands."""
    value = code.value(node)
    for part in ast.walk(value if value is not None else node):
        inner = _size_of(code, part) if isinstance(part, (ast.Name, ast.Call)) else None
        inner = code.value(inner) if inner is not None else None  # type: ignore[assignment]
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Sub):
            return {ast.dump(inner.left), ast.dump(inner.right)} == sizes
    return False


def _is_tested_or_changed(code: Code, node: ast.expr, function: ast.AST) -> bool:
    """True if the code compares the divisor, indexes it, or changes it in place."""
    name = path(node)
    if not name:
        return False
    for use in code.within(function, (ast.Compare, ast.Subscript, ast.Call)):
        paths: list[str] = []
        if isinstance(use, ast.Compare):
            paths = [path(use.left), path(use.comparators[0])]
        elif isinstance(use, ast.Subscript):
            paths = [path(use.value)]
        elif last_name(use.func).endswith("_"):
            paths = [path(receiver(use))]
        if name in paths:
            return True
    return False


def _uses_chosen_rows(code: Code, divisor: ast.expr) -> bool:
    """True if the divisor uses a[mask], which may exclude the rows in which both are 0."""
    values = (code.value(part) for part in ast.walk(code.value(divisor) or divisor))
    kinds = (ast.Name, ast.Compare, ast.UnaryOp, ast.BinOp)
    return any(
        isinstance(value, ast.Subscript) and isinstance(value.slice, kinds) for value in values
    )
