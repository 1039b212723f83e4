from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, names, path, place, receiver, source
from ...training import is_fragment, is_optimizer, is_scheduler
from .. import needs
from .shared import maker_calls


@needs("CosineAnnealingLR(")
def second_cosine_stays_at_zero(code: Code) -> Iterator[Hit]:
    for call in maker_calls(code, "CosineAnnealingLR"):
        optimizer, function = argument(call, 0, "optimizer"), code.function(call)
        if optimizer is None or argument(call, 3, "last_epoch") is not None:
            continue
        if any(word in name for name in names(function) for word in ("param_groups", "initial_lr")):
            continue
        if is_fragment(code):
            yield Hit(call, "it starts from the rate at which the first schedule ended")
            continue
        if any(is_scheduler(code, receiver(load)) for load in _loads(code)):
            continue
        for load in _loads(code):
            if (
                path(receiver(load)) == path(optimizer) != ""
                and is_optimizer(code, receiver(load))
                and code.function(load) is function
                and place(load) < place(call)
                and not code.excludes(load, call)
            ):
                yield Hit(
                    call,
                    f"after a resume, {source(call.func, 40)} starts from the low rate that the "
                    f"loaded {source(optimizer, 40)} ended with",
                )
                break


def _loads(code: Code) -> list[ast.Call]:
    return [
        call for call in code.calls.get("load_state_dict", ()) if last_name(receiver(call) or call)
    ]
