from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, is_none, path, place, receiver, source
from ...training import creating_call, functions_called, is_dead, optimizer_steps
from .. import needs
from .shared import is_bare, is_maker


@needs("step()", "sched|LR")
def scheduler_first_skips_a_rate(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        statement = code.statement(step)
        if not is_bare(code, step) or not _is_torch_scheduler(code, receiver(step)):
            continue
        if not isinstance(statement, ast.Expr) or statement.value is not step:
            continue
        earlier = [
            call
            for call in optimizer_steps(code, code.function(step))
            if place(call) < place(step) and not code.excludes(call, step)
        ]
        block = code.block(statement)
        at = next(number for number, other in enumerate(block) if other is statement)
        if earlier or any(_steps_optimizer(code, before) for before in block[:at]):
            continue
        # If a function steps both once, the loop that calls it may already have stepped.
        if code.function(step) is not code.tree and not code.loops(step):
            continue
        if any(_steps_optimizer(code, later) for later in block[at + 1 :]) and not is_dead(
            code, step
        ):
            yield Hit(
                step,
                f"{source(step, 40)} runs before the first optimizer step, so the schedule is one "
                "step ahead",
            )


def _is_torch_scheduler(code: Code, scheduler: ast.expr | None) -> bool:
    """True if every value of the name is a scheduler that sets the first rate on creation."""
    if scheduler is None or not path(scheduler):
        return False
    if code.torch(scheduler):  # a fragment that does not define the name
        return True
    makers = [maker for maker in code.values(scheduler) if not is_none(maker)]
    if len(makers) == 1 and makers[0] is None:
        makers = [creating_call(code, scheduler)]
    return bool(makers) and all(
        is_maker(code, maker) and not code.made_by(maker, "ReduceLROnPlateau") for maker in makers
    )


def _steps_optimizer(code: Code, statement: ast.stmt) -> bool:
    """True if the statement steps an optimizer, directly or in a function of this file."""
    if optimizer_steps(code, statement):
        return True
    return any(optimizer_steps(code, function) for function in functions_called(code, statement))
