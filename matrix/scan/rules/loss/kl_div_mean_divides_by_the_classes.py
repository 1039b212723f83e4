from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import (
    Code,
    Hit,
    argument,
    constant,
    has_unpacked,
    is_none,
    last_name,
    names,
    path,
    place,
    source,
)
from ...training import is_fragment, is_never_mentioned
from .. import needs
from .shared import KL_DIV


@needs("kl_div|KLDivLoss")
def kl_div_mean_divides_by_the_classes(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("kl_div", []) + code.calls.get("KLDivLoss", []):
        name = code.torch(call.func)
        if name not in KL_DIV or code.full(call.func) == "torch.kl_div" or has_unpacked(call):
            continue
        options = ("size_average", "reduce", "reduction")
        first = 2 if name == "kl_div" else 0
        size_average, reduce, reduction = (
            argument(call, position, option) for position, option in enumerate(options, first)
        )
        if _is_one_column(code, call):
            continue
        if is_never_mentioned(code, call):  # such helpers are copied from file to file
            continue
        is_mean = reduction is None or constant(reduction) == "mean"
        if (
            is_mean
            and _is_left(size_average)
            and _is_left(reduce)
            and not _is_scaled(code, call)
            and (is_fragment(code) or _is_weighed(code, call))
        ):
            how = "without a reduction" if reduction is None else "with reduction='mean'"
            yield Hit(
                call,
                f"{source(call.func)}() {how} divides by the number of elements, not by the "
                "batch size",
            )


def _is_left(option: ast.expr | None) -> bool:
    return option is None or is_none(option)


def _is_scaled(code: Code, call: ast.Call) -> bool:
    """Whether the mean is multiplied by a number of classes or elements."""
    sizes = ("size", "shape", "numel", "len", "class", "vocab", "dim")
    return any(
        isinstance(above, ast.BinOp)
        and isinstance(above.op, ast.Mult)
        and any(size in name.lower() for name in names(above) for size in sizes)
        for above in code.ancestors(call)
        if not isinstance(above, ast.stmt)
    )


def _is_weighed(code: Code, made: ast.Call) -> bool:
    """Whether the divergence is multiplied by a weight or added to other losses: alone, only its
    value is another.
    """
    uses = [made]
    if code.torch(made.func) == "KLDivLoss":
        uses = [call for call in code.all(ast.Call) if code.value(call.func) is made]
    return any(_is_a_term(code, one) for one in uses)


def _is_one_column(code: Code, call: ast.Call) -> bool:
    """Whether what is compared is flattened to one column: as many elements as rows."""
    return any(_is_flattened(code, one) for one in call.args[:2])


def _is_flattened(code: Code, node: ast.AST, depth: int = 4) -> bool:
    value = code.value(node) or node
    return any(
        [constant(size) for size in one.args] == [-1, 1]
        if isinstance(one, ast.Call) and last_name(one.func) in ("view", "reshape")
        else depth and one is not node and path(one) and _is_flattened(code, one, depth - 1)
        for one in ast.walk(value)
    )


def _is_a_term(code: Code, node: ast.AST, depth: int = 3) -> bool:
    """Whether it, or the name that it is given to, is a part of a sum or a product."""
    statement = code.statement(node)
    if isinstance(statement, ast.AugAssign):
        return True
    for one in code.ancestors(node):
        if isinstance(one, ast.BinOp) and isinstance(one.op, (ast.Add, ast.Mult)):
            return True
        if isinstance(one, (ast.stmt, ast.Tuple, ast.List)):
            break
    if not depth or not isinstance(statement, ast.Assign):
        return False
    given = {path(target) for target in statement.targets} - {""}
    return any(
        path(one) in given and place(one) > place(statement) and _is_a_term(code, one, depth - 1)
        for one in code.within(code.function(node), (ast.Name, ast.Attribute))
    )
