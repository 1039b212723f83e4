from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path, place, receiver, source
from ...training import is_fragment
from .. import needs


@needs(".eval()", ".train()")
def train_mode_restore_unfreezes(code: Code) -> Iterator[Hit]:
    if any(
        isinstance(method, ast.FunctionDef)
        and method.name == "train"
        and code.owner(method) is not None
        for method in code.all(ast.FunctionDef)
    ):
        return  # the model's own train() may keep the frozen part in eval mode
    for call in code.calls.get("train", ()):
        model, function = path(receiver(call)), code.function(call)
        if not model or call.args or call.keywords:
            continue
        frozen = [
            call
            for call in code.calls_in(function, "eval")
            if (frozen_part := receiver(call)) is not None
            and (path(frozen_part).startswith(f"{model}.") or _is_item(frozen_part, model))
        ]
        before = [freeze for freeze in frozen if place(freeze) < place(call)]
        after = [freeze for freeze in frozen if place(freeze) > place(call)]
        if not before or after:
            continue
        again = set(code.loops(call)) - set(code.loops(before[-1]))
        part = source(before[-1].func, 40).removesuffix(".eval")
        thawed = [
            train
            for train in code.calls_in(function, "train")
            if source(train.func, 40) == f"{part}.train"
        ]
        if (again or is_fragment(code)) and not thawed:
            yield Hit(
                call,
                f"{model}.train() also switches {part} to train mode, although the code set "
                "it to eval mode on purpose",
            )


def _is_item(part: ast.expr, model: str) -> bool:
    """True for model[0] and model.layers[0]."""
    return isinstance(part, ast.Subscript) and f"{path(part.value)}.".startswith(f"{model}.")
