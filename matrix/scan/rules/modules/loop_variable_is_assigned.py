from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, place, source
from .. import needs

ITERATED = ("parameters", "named_parameters", "buffers")


@needs("parameters()|named_parameters()|buffers()")
def loop_variable_is_assigned(code: Code) -> Iterator[Hit]:
    for loop in code.all(ast.For):
        if not any(
            last_name(call.func) in ITERATED and isinstance(call.func, ast.Attribute)
            for call in ast.walk(loop.iter)
            if isinstance(call, ast.Call)
        ):
            continue
        variables = {part.id for part in ast.walk(loop.target) if isinstance(part, ast.Name)}
        for assignment in code.within(loop, ast.Assign):
            target = assignment.targets[0]
            if not isinstance(target, ast.Name) or target.id not in variables:
                continue
            if not _is_read_later(code, loop, assignment, target.id):
                yield Hit(
                    assignment,
                    f"{source(assignment, 40)} gives the name {target.id} a different value, but "
                    "does not change the model",
                )


def _is_read_later(code: Code, loop: ast.For, assignment: ast.Assign, name: str) -> bool:
    return any(
        use.id == name and isinstance(use.ctx, ast.Load) and place(use) > place(assignment.value)
        for use in code.within(loop, ast.Name)
        if not any(above is assignment for above in code.ancestors(use))
    )
