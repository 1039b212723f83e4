from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path
from ...training import backwards, creating_call
from .. import needs

RECURRENT = ("lstm", "rnn", "gru", "model", "net", "decoder", "encoder")


@needs("backward()", "for ")
def hidden_state_is_not_detached(code: Code) -> Iterator[Hit]:
    for assignment in code.all(ast.Assign):
        target, call = assignment.targets[0], assignment.value
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            continue
        state = path(target.elts[1])
        if not isinstance(call, ast.Call) or len(call.args) < 2 or path(call.args[-1]) != state:
            continue
        loops = code.loops(assignment)
        if not state or not loops or not _is_recurrent(code, call):
            continue
        passes = [back for back in backwards(code, loops[0]) if code.loops(back)[0] is loops[0]]
        if not passes or _is_cut(code, loops[0], assignment, state) or _keeps_graph(passes):
            continue
        yield Hit(
            assignment,
            f"{state} keeps the previous batch's graph, which backward() has already freed",
        )


def _is_recurrent(code: Code, call: ast.Call) -> bool:
    maker = creating_call(code, call.func) if path(call.func) else None
    if maker is not None and code.torch(maker.func) in ("LSTM", "GRU", "RNN"):
        return True
    name = last_name(call.func).lower()
    return any(part in name for part in RECURRENT)


def _keeps_graph(passes: list[ast.Call]) -> bool:
    return any(constant(argument(back, 1, "retain_graph")) is True for back in passes)


def _is_cut(code: Code, loop: ast.AST, assignment: ast.Assign, state: str) -> bool:
    """True if the loop assigns the state again, detaches it in place, or may reset it."""
    others = [other for other in code.within(loop, ast.Assign) if other is not assignment]
    assigned = {path(part) for other in others for part in ast.walk(other.targets[0])}
    return state in assigned or any(
        state in {path(part) for part in ast.walk(call)}
        for call in code.calls_in(loop, "detach_", "detach", "repackage_hidden", "init_hidden")
    )
