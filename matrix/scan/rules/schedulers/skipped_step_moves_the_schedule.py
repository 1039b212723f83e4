from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, place, receiver, source
from ...training import creating_call, in_a_test, is_dead, is_scaler
from .. import needs
from .shared import is_bare, is_maker

USUAL = re.compile(r"^(lr_?)?sched(uler)?(_?lr)?$", re.IGNORECASE)
CHECKS = re.compile(
    r"get_scale|\._scale\b|found_inf|was_skipped|was_run|skip_lr|\._step_count|_opt_called"
)


@needs("caler.step(", "step()", "sched")
def skipped_step_moves_the_schedule(code: Code) -> Iterator[Hit]:
    if CHECKS.search(code.text):
        return
    for step in code.calls.get("step", ()):
        if not is_bare(code, step) or not _is_of_rates(code, step):
            continue
        if any(
            place(other) < place(step)
            and code.loops(other)[:1] == code.loops(step)[:1]
            and not code.excludes(other, step)
            for other in _scaled_steps(code, code.function(step))
        ) and not (_has_inner_loops(code, step) or in_a_test(code, step) or is_dead(code, step)):
            yield Hit(step, f"{source(step)} also runs if the scaler skips the optimizer's step")


def _is_of_rates(code: Code, step: ast.Call) -> bool:
    """True if the scheduler is from torch or transformers, or has a usual name."""
    scheduler = receiver(step)
    if scheduler is None or code.made_by(scheduler, "ReduceLROnPlateau"):
        return False
    return is_maker(code, creating_call(code, scheduler)) or bool(USUAL.match(last_name(scheduler)))


def _scaled_steps(code: Code, function: ast.AST) -> list[ast.Call]:
    """The calls to scaler.step(optimizer), unless the scaler is always off."""
    steps = []
    for call in code.calls_in(function, "step"):
        if call.args and is_scaler(code, receiver(call)):
            maker = creating_call(code, receiver(call))
            keywords = maker.keywords if maker is not None else []
            if not any(k.arg == "enabled" and constant(k.value) is False for k in keywords):
                steps.append(call)
    return steps


def _has_inner_loops(code: Code, step: ast.Call) -> bool:
    """True for a step outside the loops of its function, such as a step per epoch."""
    return not code.loops(step) and bool(
        code.within(code.function(step), (ast.For, ast.AsyncFor, ast.While))
    )
