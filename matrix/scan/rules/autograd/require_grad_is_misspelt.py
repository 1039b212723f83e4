from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, end, source
from .. import needs

MISSPELT = ("require_grad", "requires_grads", "require_grads", "required_grad", "requre_grad")


@needs("|".join(f".{name}" for name in MISSPELT))
def require_grad_is_misspelt(code: Code) -> Iterator[Hit]:
    for target in code.all(ast.Attribute):
        if target.attr in MISSPELT and isinstance(target.ctx, ast.Store):
            line, column = end(target)
            edit = Edit(line, column - len(target.attr), line, column, "requires_grad")
            yield Hit(
                target,
                f"{source(target)} is a new attribute with no effect; requires_grad keeps "
                "its value",
                (edit,),
            )
