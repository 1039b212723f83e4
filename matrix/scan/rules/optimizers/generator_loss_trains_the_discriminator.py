from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, last_name, receiver, source
from ...training import backward_of, is_backward, is_dead, is_fragment, is_scaler, is_scheduler
from .. import needs
from .shared import optimizer_of

DISCRIMINATOR = re.compile(r"(?:^|_)d(?:_|is|$)|[a-z_]D(?:_|$)|^D(?:_|$)|disc|critic", re.ASCII)
GENERATOR = re.compile(r"(?:^|_)g(?:_|en|$)|[a-z_]G(?:_|$)|^G(?:_|$)|gener|\bgen", re.ASCII)


@needs("zero_grad(", "backward(", "step(")
def generator_loss_trains_the_discriminator(code: Code) -> Iterator[Hit]:
    blocks = {code.function(call): call for call in code.calls.get("backward", ())}
    for function in blocks:
        calls = code.calls_in(function, "zero_grad", "backward", "step")
        if any("requires_grad" in word for word in _words(code, function)):
            continue
        events = [(kind, call) for call in calls if (kind := _kind(code, call))]
        for at, (kind, step) in enumerate(events):
            if kind != "step d" or is_dead(code, step):
                continue
            before = _since_zero(code, events, at)
            kinds = [other for other, _ in before]
            if "loss g" in kinds and "loss d" in kinds:
                loss = next(call for other, call in before if other == "loss g")
                yield Hit(
                    step,
                    f"{source(step, 40)} also applies the gradients of {source(loss, 40)}",
                )


def _since_zero(
    code: Code, events: list[tuple[str, ast.Call]], at: int
) -> list[tuple[str, ast.Call]]:
    """The events since the discriminator's gradients were cleared, even in the previous pass."""
    before = events[:at]
    loops = code.loops(events[at][1])
    if loops or is_fragment(code):
        later = events[at + 1 :]
        before = [one for one in later if loops[-1:] == code.loops(one[1])[-1:]] + before
    found: list[tuple[str, ast.Call]] = []
    for event in reversed(before):
        if event[0] in ("zero d", "zero"):
            return found
        found.append(event)
    return []


def _kind(code: Code, call: ast.Call) -> str:
    name = last_name(call.func)
    if is_scheduler(code, receiver(call)):
        return ""
    if name == "backward":
        return f"loss {side}" if is_backward(call) and (side := _side(backward_of(call))) else ""
    side = _side(optimizer_of(code, call) if name == "step" else receiver(call))
    if name == "step" and (not side or is_scaler(code, receiver(call))):
        return "step d" if side == "d" else ""
    return f"{'zero' if name == 'zero_grad' else 'step'} {side}".strip()


def _side(node: ast.AST | None) -> str:
    name = last_name(node) if node is not None else ""
    is_d, is_g = bool(DISCRIMINATOR.search(name)), bool(GENERATOR.search(name))
    return "" if is_d is is_g else "d" if is_d else "g"


def _words(code: Code, function: ast.AST) -> list[str]:
    return [part.attr for part in code.within(function, ast.Attribute)] + [
        last_name(call.func) for call in code.calls_in(function)
    ]
