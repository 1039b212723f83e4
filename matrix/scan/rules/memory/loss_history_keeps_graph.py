from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path
from ...training import backward_of, backwards, is_fragment, without_grad
from .. import needs

NUMBERS = ("item", "float", "detach", "tolist", "cpu", "numpy", "mean_item")


@needs("+=")
def loss_history_keeps_graph(code: Code) -> Iterator[Hit]:
    for addition in code.all(ast.AugAssign):
        total, loss = path(addition.target), path(addition.value)
        if not isinstance(addition.op, ast.Add) or not total or not loss:
            continue
        if _is_trained(code, addition, loss) and not without_grad(code, addition):
            yield Hit(
                addition,
                f"{total} keeps the graph of {loss} from every step; {loss}.item() has no graph",
            )


def _is_trained(code: Code, addition: ast.AugAssign, loss: str) -> bool:
    """True if the loop calls backward() for this loss, and only adds it up for the log."""
    value = code.value(addition.value)
    if isinstance(value, ast.Call) and last_name(value.func) in NUMBERS:
        return False
    if isinstance(value, (ast.Constant, ast.Subscript)) or path(value).endswith(".data"):
        return False
    loops = code.loops(addition)
    if not loops:
        return is_fragment(code) and loss == "loss"
    totals = code.values(addition.target)
    if not any(isinstance(constant(first), (int, float)) for first in totals):
        return False
    trained = {path(backward_of(call)) for call in backwards(code, code.function(addition))}
    here = {path(backward_of(call)) for call in backwards(code, loops[0])}
    return loss in here and path(addition.target) not in trained
