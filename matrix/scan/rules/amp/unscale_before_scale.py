from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path, place, receiver, remembered, source
from ...training import backwards, functions_called, is_scaler
from .. import needs


@needs("scaler|Scaler", "backward", ".step(")
def unscale_before_scale(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        if not is_scaler(code, receiver(step)) or not step.args:
            continue
        function = code.function(step)
        before = [
            call
            for call in backwards(code, function)
            if place(call) < place(step) and not code.excludes(call, step)
        ]
        places = [code.owner(step) or function, *functions_called(code, function)]
        if before and not any(_scales(code, node) for node in places):
            yield Hit(
                step,
                f"{source(step.func, 40)}() raises an error because the loss was not scaled by "
                "scale()",
            )


@remembered
def _scales(code: Code, node: ast.AST) -> bool:
    """True if the node calls scale(), or passes a scaler to a function that may call it."""
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    return any(
        code.method(call) == "scale"
        or any(
            "scaler" in path(value).lower()
            for value in [*call.args, *(k.value for k in call.keywords)]
        )
        for call in calls
    )
