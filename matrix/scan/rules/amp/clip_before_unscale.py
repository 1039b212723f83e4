from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, inserted, path, place, receiver, source
from ...training import backwards, functions_called, is_scaler
from .. import needs
from .shared import is_scaled

CLIPS = ("clip_grad_norm_", "clip_grad_value_")


@needs("clip_grad_", "scaler|Scaler")
def clip_before_unscale(code: Code) -> Iterator[Hit]:
    for clip in [call for name in CLIPS for call in code.calls.get(name, ())]:
        function = code.function(clip)
        scaled = [call for call in backwards(code, function) if is_scaled(code, call)]
        unscaled = code.calls_in(function, "unscale_")
        elsewhere = any(
            code.calls_in(called, "unscale_") for called in functions_called(code, function)
        )
        steps = [
            call
            for call in code.calls_in(function, "step")
            if is_scaler(code, receiver(call)) and call.args
        ]
        if (
            _runs_before(code, scaled, clip)
            and _runs_before(code, [clip], *steps)
            and not _runs_before(code, unscaled, clip)
            and not any(code.excludes(call, clip) for call in unscaled)  # two variants of AMP
            and not elsewhere
            and not path(clip.func).startswith("accelerator.")
        ):
            yield Hit(
                clip,
                f"{source(clip.func, 40)}() clips gradients that are still multiplied by the loss "
                "scale, so the step is too short by that factor",
                () if unscaled else _unscaled_before(code, clip, scaled, steps),
            )


def _unscaled_before(
    code: Code, clip: ast.Call, scaled: list[ast.Call], steps: list[ast.Call]
) -> tuple[Edit, ...]:
    """An edit that inserts unscale_() before the first clip of the only step.

    There is no edit if the inserted call would run for each batch of a window, because the second
    call would raise an error. There is also no edit if there are several steps, because it is
    unclear which optimizer is meant.
    """
    if len(steps) != 1 or not path(steps[0].args[0]):
        return ()
    step, statement = steps[0], code.statement(clip)
    clips = [
        call
        for call in code.calls_in(code.function(clip), *CLIPS)
        if place(call) < place(step) and not code.excludes(call, clip)
    ]
    if not _runs_before(code, scaled, clips[0]) or _runs_before(code, clips[:1], *scaled):
        return ()
    if any(code.statement(call) not in code.block(statement) for call in clips):
        return ()
    line, column = place(code.statement(clips[0]))
    indent = code.lines[line - 1][:column]
    above = statement
    while not indent.strip():  # the statement is the first on its line
        if code.statement(step) in code.block(above):
            scaler, optimizer = source(step.func)[: -len(".step")], source(step.args[0])
            return (inserted((line, column), f"{scaler}.unscale_({optimizer})\n{indent}"),)
        if not isinstance(code.parent[above], ast.If):
            break
        above = code.statement(code.parent[above])
    return ()


def _runs_before(code: Code, earlier: list[ast.Call], *later: ast.Call) -> bool:
    """True if the earlier call may already have run when the later call runs."""
    return any(
        place(first) < place(other) and not code.excludes(first, other)
        for first in earlier
        for other in later
    )
