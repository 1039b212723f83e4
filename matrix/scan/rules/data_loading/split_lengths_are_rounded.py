from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, path, source
from .. import needs


@needs("random_split(")
def split_lengths_are_rounded(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("random_split", ()):
        lengths = code.value(argument(call, 1, "lengths"))
        if not isinstance(lengths, (ast.List, ast.Tuple)) or len(lengths.elts) < 2:
            continue
        values = [code.value(length) for length in lengths.elts]
        if all(_is_rounded_down(value) for value in values):
            yield Hit(
                call,
                f"int() rounds each length of {source(lengths, 40)} down, so a row may be left "
                "over",
            )


def _is_rounded_down(value: ast.AST | None) -> bool:
    """True for int(0.8 * n)."""
    if not isinstance(value, ast.Call) or path(value.func) != "int" or len(value.args) != 1:
        return False
    product = value.args[0]
    return isinstance(product, ast.BinOp) and isinstance(product.op, (ast.Mult, ast.Div))
