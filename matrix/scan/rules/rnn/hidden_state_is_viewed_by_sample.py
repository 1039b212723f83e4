from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, place, receiver, source
from ...training import creating_call, is_fragment
from .. import needs

RECURRENT = ("LSTM", "GRU", "RNN")


@needs(".view(|.reshape(")
def hidden_state_is_viewed_by_sample(code: Code) -> Iterator[Hit]:
    states = _states(code)
    for call in (call for name in ("view", "reshape") for call in code.calls.get(name, ())):
        state = path(receiver(call))
        layer = states.get((code.function(call), state))
        if (
            layer is None
            or _is_replaced(code, call, state)
            or len(call.args) != 2
            or constant(call.args[1]) != -1
        ):
            continue
        if constant(call.args[0]) is None and "num_layers" not in source(call.args[0]):
            yield Hit(
                call,
                f"{source(call, 40)} reads {state} as [batch, ...], but {layer}() returns [layers, "
                "batch, ...]",
            )


def _states(code: Code) -> dict[tuple[ast.AST, str], str]:
    """(function, name) -> the layer that returns this hidden state, of several layers."""
    found = {}
    for assignment in code.all(ast.Assign):
        target, call = assignment.targets[0], assignment.value
        if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
            continue
        if not isinstance(call, ast.Call) or not path(call.func):
            continue
        maker = creating_call(code, call.func)
        if maker is None:
            if not (is_fragment(code) and "lstm" in last_name(call.func).lower()):
                continue
        elif code.torch(maker.func) not in RECURRENT or not _has_several(maker):
            continue
        second = target.elts[1]
        state = second.elts[0] if isinstance(second, ast.Tuple) and second.elts else second
        if path(state):
            found[code.function(assignment), path(state)] = path(call.func)
    return found


def _is_replaced(code: Code, call: ast.Call, state: str) -> bool:
    """True if the latest assignment before the call gives the name a tensor that is not a state."""
    function, latest = code.function(call), None
    for assignment in code.all(ast.Assign):
        if code.function(assignment) is not function or place(assignment) >= place(call):
            continue
        parts = [part for target in assignment.targets for part in ast.walk(target)]
        is_later = latest is None or place(assignment) > place(latest)
        if is_later and any(path(part) == state for part in parts):
            latest = assignment
    return latest is not None and not isinstance(latest.targets[0], ast.Tuple)


def _has_several(maker: ast.Call) -> bool:
    layers = constant(argument(maker, 2, "num_layers"))
    both = constant(argument(maker, -1, "bidirectional"))
    return both is True or (isinstance(layers, int) and layers > 1)
