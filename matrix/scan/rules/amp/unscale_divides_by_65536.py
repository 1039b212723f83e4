from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, place, receiver, source
from ...training import is_backward, is_scaler, optimizer_steps
from .. import needs
from .shared import is_scaled


@needs("scaler|Scaler", "backward", "scale(")
def unscale_divides_by_65536(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        if not is_scaler(code, receiver(step)) or not step.args:
            continue
        block = code.block(code.statement(step))
        before = [statement for statement in block if place(statement) < place(step)]
        for at in range(len(before) - 1, -1, -1):  # keep the statements after the previous step
            if optimizer_steps(code, before[at]):
                before = before[at + 1 :]
                break
        direct = [
            statement.value
            for statement in before
            if isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Call)
            and is_backward(statement.value)
        ]
        scaled = [call for call in direct if is_scaled(code, call)]
        plain = [
            other
            for other in optimizer_steps(code, code.function(step))
            if not is_scaler(code, receiver(other))
        ]
        for call in direct:
            if scaled and call not in scaled and not plain:  # a plain step may have its own loss
                yield Hit(
                    call,
                    f"the loss in {source(call, 40)} is not scaled, but {source(step, 40)} still "
                    "divides its gradients by the loss scale",
                )
