from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, source
from ...training import backwards, optimizer_steps
from .. import needs
from .shared import has_no_closure, is_of, reads_gradients

# Calls between zero_grad() and step() that do not change the gradients.
QUIET = frozenset(
    "print log info debug item append update add_scalar unscale_ time clip_grad_norm_"
    " clip_grad_value_ set_postfix set_description len range".split()
)


@needs("zero_grad", "backward", "step(")
def zero_grad_before_the_step(code: Code) -> Iterator[Hit]:
    for clear in code.calls.get("zero_grad", ()):
        statement = code.statement(clear)
        block = code.block(statement)
        at = next(number for number, other in enumerate(block) if other is statement)
        if not isinstance(statement, ast.Expr) or statement.value is not clear:
            continue
        for later in block[at + 1 :]:
            steps = [step for step in optimizer_steps(code, later) if is_of(code, clear, step)]
            if steps and isinstance(later, (ast.Expr, ast.Assign)):
                if has_no_closure(code, steps[0]) and _has_gradients(code, block[:at], clear):
                    yield Hit(
                        clear,
                        f"{source(clear, 40)} clears the gradients of this iteration before "
                        f"{source(steps[0], 40)} uses them",
                    )
                break
            if not _is_quiet(later):
                break


def _is_quiet(statement: ast.stmt) -> bool:
    calls = [part for part in ast.walk(statement) if isinstance(part, ast.Call)]
    return not reads_gradients(statement) and all(
        last_name(call.func) in QUIET
        and (call.args or call.keywords or last_name(call.func) != "update")
        for call in calls  # update() without arguments may restore gradients
    )


def _has_gradients(code: Code, before: list[ast.stmt], clear: ast.Call) -> bool:
    """True if backward() has run since the last step of this optimizer."""
    for statement in reversed(before):
        if any(is_of(code, clear, step) for step in optimizer_steps(code, statement)):
            return False
        if backwards(code, statement):
            return not reads_gradients(statement)
        if not _is_quiet(statement):
            return False
    return False
