from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path, receiver, source
from ...training import backward_of, backwards, is_fragment, without_grad
from .. import needs


@needs(".module(", "backward(")
def forward_through_module(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("module", ()):
        model = receiver(call)
        if model is None or not path(model) or path(model) == "self" or without_grad(code, call):
            continue
        if not is_fragment(code) and "DistributedDataParallel" not in code.text:
            continue
        if _is_trained(code, call):
            yield Hit(
                call,
                f"{source(call.func)}() bypasses DistributedDataParallel, so the gradients are not "
                "averaged over the ranks",
            )


def _is_trained(code: Code, call: ast.Call) -> bool:
    """True if the same function computes a loss from the call, and calls backward() on it."""
    function = code.function(call)
    statement = code.statement(call)
    results = {
        path(part)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [])
        for part in ast.walk(target)
    } - {""}
    for back in backwards(code, function):
        loss = backward_of(back)
        if loss is None:
            continue
        value = code.value(loss) or loss
        used = {path(part) for part in ast.walk(value)}
        if used & results or any(part is call for part in ast.walk(back)):
            return True
        if any(part is call for part in ast.walk(value)):
            return True
    return False
