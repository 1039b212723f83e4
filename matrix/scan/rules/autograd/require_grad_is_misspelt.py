from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, constant, end, source
from .. import needs

MISSPELT = ("require_grad", "requires_grads", "require_grads", "required_grad", "requre_grad")


@needs("|".join(f".{name}" for name in MISSPELT))
def require_grad_is_misspelt(code: Code) -> Iterator[Hit]:
    for target in code.all(ast.Attribute):
        if target.attr not in MISSPELT or not isinstance(target.ctx, ast.Store):
            continue
        if not _asks_for_the_default(code, target):
            line, column = end(target)
            edit = Edit(line, column - len(target.attr), line, column, "requires_grad")
            yield Hit(
                target,
                f"{source(target)} is a new attribute with no effect; requires_grad keeps "
                "its value",
                (edit,),
            )


def _asks_for_the_default(code: Code, target: ast.Attribute) -> bool:
    """True for `= True` on the weight or bias of a torch.nn layer that the function creates."""
    statement, owner = code.statement(target), target.value
    if not isinstance(statement, ast.Assign) or constant(statement.value) is not True:
        return False
    if not isinstance(owner, ast.Attribute) or owner.attr not in ("weight", "bias"):
        return False
    layer = code.value(owner.value)
    return isinstance(layer, ast.Call) and code.torch(layer.func)[:1].isupper()
