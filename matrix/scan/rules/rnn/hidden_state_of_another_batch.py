from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path, source
from ...training import is_dead, is_fragment, is_network
from .. import needs

RECURRENT = ("LSTM", "GRU", "RNN", "LSTMCell", "GRUCell", "RNNCell")
FACTORIES = ("zeros", "randn", "rand", "ones", "FloatTensor")


@needs("batch_size", "LSTM|GRU|RNN|gru(")
def hidden_state_of_another_batch(code: Code) -> Iterator[Hit]:
    if is_fragment(code):
        yield from (Hit(call, _what(call)) for call in _states(code, code.tree, "batch_size"))
        return
    for owner in code.all(ast.ClassDef):
        if not is_network(code, owner):
            continue
        layers = {
            path(node.targets[0])
            for node in ast.walk(owner)
            if isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and code.torch(node.value.func) in RECURRENT
        }
        for function in owner.body:
            if not isinstance(function, ast.FunctionDef) or function.name == "__init__":
                continue
            for call in _states(code, function, "self.batch_size"):
                if _reaches(code, function, call, layers) and not is_dead(code, call):
                    yield Hit(call, _what(call))
                    break


def _what(call: ast.Call) -> str:
    return f"{source(call, 50)} does not fit a smaller last batch or a single sample"


def _states(code: Code, node: ast.AST, size: str) -> list[ast.Call]:
    """The tensors whose shape contains the configured batch size."""
    return [
        call
        for call in code.calls_in(node, *FACTORIES)
        if code.torch(call.func)
        and any(path(part) == size for value in call.args for part in ast.walk(value))
    ]


def _reaches(code: Code, function: ast.FunctionDef, call: ast.Call, layers: set[str]) -> bool:
    """True if a recurrent layer starts from the tensor, here or where the function is called."""
    owner = code.owner(function)
    statement = code.statement(call)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    kept = {path(part) for target in targets for part in ast.walk(target)} - {""}
    for other in code.calls.get(function.name, ()):  # self.hidden = self.init_hidden()
        user = code.statement(other)
        if code.owner(other) is owner and isinstance(user, ast.Assign):
            kept |= {path(part) for target in user.targets for part in ast.walk(target)} - {""}
    return any(
        path(part) in kept or part is call
        for layer in code.all(ast.Call)
        if code.owner(layer) is owner and path(layer.func) in layers and len(layer.args) > 1
        for part in ast.walk(layer.args[1])
    ) or any(
        last_name(part.func) == function.name
        for layer in code.all(ast.Call)
        if code.owner(layer) is owner and path(layer.func) in layers and len(layer.args) > 1
        for part in ast.walk(layer.args[1])
        if isinstance(part, ast.Call)
    )
