"""Helpers for mixed precision and gradient accumulation."""

from __future__ import annotations

import ast

from ...code import Code, receiver, remembered
from ...training import is_scaler


@remembered
def is_scaled(code: Code, backward: ast.Call) -> bool:
    """True for scaler.scale(loss).backward(), even if the scaled loss is stored in a variable."""
    value = code.value(receiver(backward))
    return isinstance(value, ast.Call) and any(
        isinstance(part, ast.Call)
        and isinstance(part.func, ast.Attribute)
        and part.func.attr == "scale"
        and is_scaler(code, part.func.value)
        for part in ast.walk(value)
    )


def is_in(code: Code, node: ast.AST, above: ast.AST) -> bool:
    return any(ancestor is above for ancestor in code.ancestors(node))


def window_of(test: ast.AST | None) -> tuple[ast.expr, ast.expr] | None:
    """The counter and the window in a test such as `(i + 1) % window == 0`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    elif isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
        test = test.left
    else:
        return None
    if not isinstance(test, ast.BinOp) or not isinstance(test.op, ast.Mod):
        return None
    return test.left, test.right


def parts_of(test: ast.AST) -> list[ast.AST]:
    return [*test.values] if isinstance(test, ast.BoolOp) else [test]
