from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, names, receiver, source
from ...training import in_a_test, is_dead, is_fragment, is_scaler
from .. import needs

LEAVES = (ast.Raise, ast.Continue, ast.Break, ast.Return)
ENDS = ("exit", "step", "backward", "zero_grad")


@needs("isnan(", "loss")
def isnan_misses_inf(code: Code) -> Iterator[Hit]:
    for check in [*code.all(ast.If), *code.all(ast.Assert)]:
        assert isinstance(check, (ast.If, ast.Assert))
        call = _isnan_of_a_loss(code, check.test)
        if call is None or in_a_test(code, check) or is_dead(code, check):
            continue
        if isinstance(check, ast.If) and not _reacts(code, check):
            continue
        function = code.function(check)
        if not is_fragment(code) and not code.calls_in(function, "backward"):
            continue
        if code.calls_in(function, "isinf", "isfinite", "nan_to_num"):
            continue
        if any(is_scaler(code, receiver(step)) for step in code.calls_in(function, "step")):
            continue  # a GradScaler skips steps with infinite gradients
        yield Hit(
            call, f"{source(call, 40)} is False for an infinite loss, whose gradients are nan"
        )


def _isnan_of_a_loss(code: Code, test: ast.expr) -> ast.Call | None:
    for call in code.calls_in(test, "isnan"):
        values = [*call.args, *([receiver(call)] if not call.args else [])]
        if any("loss" in name.lower() for value in values if value for name in names(value)):
            return call
    return None


def _reacts(code: Code, check: ast.If) -> bool:
    """True if a branch leaves the loop, the function or the program, or makes the step."""
    return any(
        code.within(part, LEAVES)
        or any(last_name(call.func) in ENDS for call in code.calls_in(part))
        for part in [*check.body, *check.orelse]
    )
