from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, source
from ...training import backwards, optimizer_steps
from .. import needs
from .shared import has_no_closure, is_of, reads_gradients

# Between zero_grad() and step() these leave the gradients as they are.
QUIET = frozenset(
    "print log info debug item append update add_scalar unscale_ time clip_grad_norm_"
    " clip_grad_value_ set_postfix set_description len range".split()
)


@needs("zero_grad", "backward", "step(")
def zero_grad_before_the_step(code: Code) -> Iterator[Hit]:
    for clear in code.calls.get("zero_grad", ()):
        statement = code.statement(clear)
        block = code.block(statement)
        at = next(number for number, one in enumerate(block) if one is statement)
        if not isinstance(statement, ast.Expr) or statement.value is not clear:
            continue
        for later in block[at + 1 :]:
            steps = [step for step in optimizer_steps(code, later) if is_of(code, clear, step)]
            if steps and isinstance(later, (ast.Expr, ast.Assign)):
                if has_no_closure(code, steps[0]) and _gradients_came(code, block[:at], clear):
                    yield Hit(
                        clear,
                        f"{source(clear, 40)} clears the gradients of this iteration before "
                        f"{source(steps[0], 40)} uses them",
                    )
                break
            if not _is_quiet(later):
                break


def _is_quiet(statement: ast.stmt) -> bool:
    calls = [one for one in ast.walk(statement) if isinstance(one, ast.Call)]
    return not reads_gradients(statement) and all(
        last_name(one.func) in QUIET
        and (one.args or one.keywords or last_name(one.func) != "update")
        for one in calls  # update() of nothing may put gradients back
    )


def _gradients_came(code: Code, before: list[ast.stmt], clear: ast.Call) -> bool:
    """Whether there is a backward() since the last step of this optimizer."""
    for one in reversed(before):
        if any(is_of(code, clear, step) for step in optimizer_steps(code, one)):
            return False
        if backwards(code, one):
            return not reads_gradients(one)
        if not _is_quiet(one):
            return False
    return False
