from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, names, place, receiver, source
from ...training import (
    backwards,
    functions_called,
    is_optimizer,
    is_scaler,
    optimizer_steps,
    rest_of_the_block,
)
from .. import needs
from .shared import is_in, window_of


@needs("%", "backward", "step")
def last_window_is_dropped(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        if not (is_scaler(code, receiver(step)) or is_optimizer(code, receiver(step))):
            continue
        test = next(iter(code.conditions(step)), None)
        counted = window_of(code.value(test))
        if test is None or counted is None:
            continue
        counter, window = counted
        branch = code.parent[test]
        loops = code.loops(branch)
        function = code.function(branch)
        inside = loops[0] if loops else function
        own = [call for call in backwards(code, inside) if not is_in(code, call, branch)]
        if (
            any(place(call) < place(step) for call in own)
            and not backwards(code, branch)
            and _restarts_in_each_epoch(code, counter, loops, function)
            and not _steps_after(code, loops[0] if loops else None)
            and not _skips_the_last_batches(code, loops[0] if loops else None, window)
            and not _clears(code, loops[0].body if loops else [], branch)
            and constant(window) != 1
        ):
            before = code.block(loops[0]) if loops else []
            stay = "" if _clears(code, before, branch) else ", and their gradients remain"
            yield Hit(
                step,
                f"the batches after the last full window of {source(window, 40)} get no optimizer "
                f"step{stay}",
            )


def _restarts_in_each_epoch(
    code: Code,
    counter: ast.expr,
    loops: list[ast.For | ast.AsyncFor | ast.While],
    function: ast.AST,
) -> bool:
    """True if the counter counts the batches of one epoch."""
    used = {name.id for name in ast.walk(counter) if isinstance(name, ast.Name)}
    if not loops:  # a fragment, or a function that receives the batch number
        whole = function is code.tree
        return whole or any("batch" in name or "idx" in name for name in used)
    loop = loops[0]
    if isinstance(loop, ast.While):
        return False
    if names(loop.iter) & {"range", "count"} and not names(loop.iter) & {"enumerate", "len"}:
        return False  # the loop counts the steps of the whole training run
    targets = {name.id for name in ast.walk(loop.target) if isinstance(name, ast.Name)}
    if used & targets:
        return True
    epoch = loops[1] if len(loops) > 1 else function  # may reset the counter in every epoch
    return any(
        isinstance(assignment.targets[0], ast.Name)
        and assignment.targets[0].id in used
        and constant(assignment.value) in (0, 1)
        and (not loops[1:] or any(assignment is part for part in loops[1].body))
        for assignment in code.within(epoch, ast.Assign)
        if place(assignment) < place(loop)
    )


def _steps_after(code: Code, loop: ast.stmt | None) -> bool:
    """True if the rest of the block takes a step for the remaining batches."""
    return loop is not None and any(
        optimizer_steps(code, part)
        for later in rest_of_the_block(code, loop)
        for part in (later, *functions_called(code, later))
    )


def _clears(code: Code, block: list[ast.stmt], branch: ast.AST) -> bool:
    """True if a top-level statement of the block clears gradients."""
    return any(
        isinstance(statement, ast.Expr)
        and statement is not branch
        and code.calls_in(statement, "zero_grad")
        for statement in block
    )


def _skips_the_last_batches(code: Code, loop: ast.stmt | None, window: ast.expr) -> bool:
    """True if the loop skips the batches after the last full window."""
    if loop is None:
        return False
    for skip in code.within(loop, ast.Continue):
        for name in [
            part for test in code.conditions(skip)[:1] for part in code.within(test, ast.Name)
        ]:
            value = code.value(name)
            if value is not None and names(value) & names(window):
                return True
    return False
