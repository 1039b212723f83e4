from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path, place, receiver, source
from ...training import is_fragment
from .. import needs


@needs(".eval()", ".train()")
def train_mode_restore_unfreezes(code: Code) -> Iterator[Hit]:
    if any(
        isinstance(one, ast.FunctionDef) and one.name == "train" and code.owner(one) is not None
        for one in code.all(ast.FunctionDef)
    ):
        return  # it may keep the frozen part in eval mode
    for call in code.calls.get("train", ()):
        model, function = path(receiver(call)), code.function(call)
        if not model or call.args or call.keywords:
            continue
        frozen = [
            one
            for one in code.calls_in(function, "eval")
            if (of := receiver(one)) is not None
            and (path(of).startswith(f"{model}.") or _is_item(of, model))
        ]
        before = [one for one in frozen if place(one) < place(call)]
        after = [one for one in frozen if place(one) > place(call)]
        if not before or after:
            continue
        again = set(code.loops(call)) - set(code.loops(before[-1]))
        part = source(before[-1].func, 40).removesuffix(".eval")
        thawed = [
            one
            for one in code.calls_in(function, "train")
            if source(one.func, 40) == f"{part}.train"
        ]
        if (again or is_fragment(code)) and not thawed:
            yield Hit(
                call,
                f"{model}.train() also switches {part} to train mode, which was set to "
                "eval on purpose",
            )


def _is_item(part: ast.expr, model: str) -> bool:
    """model[0], model.layers[0]"""
    return isinstance(part, ast.Subscript) and f"{path(part.value)}.".startswith(f"{model}.")
