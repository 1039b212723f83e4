from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, path, place, receiver, source
from ...training import is_scaler
from .. import needs
from .shared import parts_of


@needs("load_state_dict", "GradScaler", "enabled")
def resume_from_disabled_scaler(code: Code) -> Iterator[Hit]:
    switched = [argument(maker, -1, "enabled") for maker in code.calls.get("GradScaler", ())]
    if all(enabled is None or constant(enabled) is not None for enabled in switched):
        return
    for call in code.calls.get("load_state_dict", ()):
        guarded = bool(call.args) and _is_guarded(code, call, call.args[0])
        caught = any(isinstance(above, ast.Try) for above in code.ancestors(call))
        if is_scaler(code, receiver(call)) and call.args and not guarded and not caught:
            yield Hit(
                call,
                f"{source(call.func, 40)}() raises an error if the saved scaler was disabled, "
                "because its state is {}",
            )


def _is_guarded(code: Code, call: ast.Call, state: ast.expr) -> bool:
    """True if an empty state never reaches the call (`if state:` or `if not state: return`)."""
    guards = [
        part.operand
        for branch in code.within(code.function(call), ast.If)
        for part in parts_of(branch.test)
        if isinstance(part, ast.UnaryOp)
        and isinstance(part.op, ast.Not)
        and isinstance(branch.body[-1], (ast.Return, ast.Raise, ast.Continue))
        and place(branch) < place(call)
    ]
    return any(_tests_state(code, test, state) for test in [*code.conditions(call), *guards])


def _tests_state(code: Code, test: ast.expr, state: ast.expr) -> bool:
    """True if the test is false for an empty state, because it tests the state itself."""
    for part in parts_of(test):
        asked = part.left if isinstance(part, ast.Compare) else part
        if isinstance(asked, ast.Call) and path(asked.func) == "len" and asked.args:
            asked = asked.args[0]
        if ast.dump(asked) == ast.dump(state) and not _is_none_test(part):
            return True
        if isinstance(part, ast.Call) and code.method(part) == "get" and part.args:
            key = ast.dump(part.args[0])
            if isinstance(state, ast.Subscript) and ast.dump(state.slice) == key:
                return True
    return False


def _is_none_test(test: ast.AST) -> bool:
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Is, ast.IsNot))
