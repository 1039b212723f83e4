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
        if is_never_mentioned(code, call):  # unused helpers are often copied between files
            continue
        is_mean = reduction is None or constant(reduction) == "mean"
        if (
            is_mean
            and _is_unset(size_average)
            and _is_unset(reduce)
            and not _is_scaled(code, call)
            and (is_fragment(code) or _is_weighed(code, call))
        ):
            how = "with the default reduction" if reduction is None else "with reduction='mean'"
            yield Hit(
                call,
                f"{source(call.func)}() {how} divides by the number of elements, not by the "
                "batch size",
            )


def _is_unset(option: ast.expr | None) -> bool:
    return option is None or is_none(option)


def _is_scaled(code: Code, call: ast.Call) -> bool:
    """True if the mean is multiplied by the number of classes or elements."""
    sizes = ("size", "shape", "numel", "len", "class", "vocab", "dim")
    return any(
        isinstance(above, ast.BinOp)
        and isinstance(above.op, ast.Mult)
        and any(size in name.lower() for name in names(above) for size in sizes)
        for above in code.ancestors(call)
        if not isinstance(above, ast.stmt)
    )


def _is_weighed(code: Code, maker: ast.Call) -> bool:
    """True if the divergence is multiplied by a weight or added to other losses.

    If the divergence is the only loss, the missing factor affects only its value.
    """
    uses = [maker]
    if code.torch(maker.func) == "KLDivLoss":
        uses = [call for call in code.all(ast.Call) if code.value(call.func) is maker]
    return any(_is_a_term(code, use) for use in uses)


def _is_one_column(code: Code, call: ast.Call) -> bool:
    """True if an input is flattened to one column, which has as many elements as rows."""
    return any(_is_flattened(code, value) for value in call.args[:2])


def _is_flattened(code: Code, node: ast.AST, depth: int = 4) -> bool:
    value = code.value(node) or node
    return any(
        [constant(size) for size in part.args] == [-1, 1]
        if isinstance(part, ast.Call) and last_name(part.func) in ("view", "reshape")
        else depth and part is not node and path(part) and _is_flattened(code, part, depth - 1)
        for part in ast.walk(value)
    )


def _is_a_term(code: Code, node: ast.AST, depth: int = 3) -> bool:
    """True if the node, or the name to which it is assigned, is part of a sum or a product."""
    statement, above = code.statement(node), code.parent[node]
    if isinstance(above, ast.Attribute) and above.attr in ("item", "detach"):  # for the log
        return False
    if isinstance(statement, ast.AugAssign):
        return True
    for above in code.ancestors(node):
        if isinstance(above, ast.BinOp) and isinstance(above.op, (ast.Add, ast.Mult)):
            return True
        if isinstance(above, (ast.stmt, ast.Tuple, ast.List)):
            break
    if not depth or not isinstance(statement, ast.Assign):
        return False
    targets = {path(target) for target in statement.targets} - {""}
    return any(
        path(use) in targets and place(use) > place(statement) and _is_a_term(code, use, depth - 1)
        for use in code.within(code.function(node), (ast.Name, ast.Attribute))
    )
