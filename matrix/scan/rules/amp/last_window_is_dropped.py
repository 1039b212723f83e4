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
        counted = window_of(test)
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
            and _starts_anew(code, counter, loops, function)
            and not _steps_after(code, loops[0] if loops else None)
            and not _leaves_early(code, loops[0] if loops else None, window)
            and not _clears(code, loops[0].body if loops else [], branch)
            and constant(window) != 1
        ):
            before = code.block(loops[0]) if loops else []
            stay = "" if _clears(code, before, branch) else ", and their gradients stay"
            yield Hit(
                step,
                "the batches after the last full window get no optimizer step: a window is "
                f"{source(window, 40)}{stay}",
            )


def _starts_anew(
    code: Code,
    counter: ast.expr,
    loops: list[ast.For | ast.AsyncFor | ast.While],
    function: ast.AST,
) -> bool:
    """Whether the counter counts the batches of one epoch."""
    used = {one.id for one in ast.walk(counter) if isinstance(one, ast.Name)}
    if not loops:  # of a fragment; or a step of one batch, by its number
        whole = function is code.tree
        return whole or any("batch" in name or "idx" in name for name in used)
    loop = loops[0]
    if isinstance(loop, ast.While):
        return False
    if names(loop.iter) & {"range", "count"} and not names(loop.iter) & {"enumerate", "len"}:
        return False  # steps of the whole training
    targets = {one.id for one in ast.walk(loop.target) if isinstance(one, ast.Name)}
    if used & targets:
        return True
    epoch = loops[1] if len(loops) > 1 else function  # set to 0 before each epoch
    return any(
        isinstance(one.targets[0], ast.Name)
        and one.targets[0].id in used
        and constant(one.value) in (0, 1)
        and (not loops[1:] or any(one is part for part in loops[1].body))
        for one in code.within(epoch, ast.Assign)
        if place(one) < place(loop)
    )


def _steps_after(code: Code, loop: ast.stmt | None) -> bool:
    """Whether the rest of the block takes a step for what is left."""
    return loop is not None and any(
        optimizer_steps(code, part)
        for one in rest_of_the_block(code, loop)
        for part in (one, *functions_called(code, one))
    )


def _clears(code: Code, block: list[ast.stmt], branch: ast.AST) -> bool:
    """Whether a statement of the block itself clears gradients: of a loop, in every pass."""
    return any(
        isinstance(one, ast.Expr) and one is not branch and code.calls_in(one, "zero_grad")
        for one in block
    )


def _leaves_early(code: Code, loop: ast.stmt | None, window: ast.expr) -> bool:
    """Whether the loop passes over the batches after the last full window."""
    if loop is None:
        return False
    for one in code.within(loop, ast.Continue):
        for name in [
            part for test in code.conditions(one)[:1] for part in code.within(test, ast.Name)
        ]:
            value = code.value(name)
            if value is not None and names(value) & names(window):
                return True
    return False
