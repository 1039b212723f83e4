from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, path, receiver
from ...project import around
from ...training import creating_call, is_dead, is_fragment, is_network
from .. import needs


@needs("oftmax")
def softmax_over_the_batch(code: Code) -> Iterator[Hit]:
    if is_fragment(code):
        for call, scores in _over_the_first(code):
            if path(scores) and code.value(scores) is None:
                yield _hit(call)
        return
    if not any("DataLoader" in file.text for file in around(code, "DataLoader")):
        return  # without batches, the first dimension may be the classes
    for call, scores in _over_the_first(code):
        function = code.function(call)
        if (
            getattr(function, "name", "") == "forward"
            and is_network(code, code.owner(call))
            and _is_of_a_linear_layer(code, scores)
            and _is_returned(code, call, function)
            and not _flattens(code, function)
            and not is_dead(code, call)
        ):
            yield _hit(call)
    for call in code.calls.get("Sequential", ()):
        if code.torch(call.func) and len(call.args) > 1 and not is_dead(code, call):
            *_, layer, last = call.args
            if _is_module(code, last) and _is_linear(code, layer):
                yield _hit(last)


def _hit(call: ast.AST) -> Hit:
    return Hit(call, "with dim=0, the probabilities of one sample depend on the rest of the batch")


def _over_the_first(code: Code) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Yields the softmax calls over dim=0, each with its input."""
    for name in ("softmax", "log_softmax"):
        for call in code.calls.get(name, ()):
            if code.torch(call.func):
                scores, dim = argument(call, 0, "input"), argument(call, 1, "dim")
            else:
                scores, dim = receiver(call), argument(call, 0, "dim")
            if scores is not None and path(scores) != "self" and _is_0(dim):
                yield call, scores
    for call in code.all(ast.Call):
        module = code.value(call.func) if path(call.func).startswith("self.") else call.func
        if len(call.args) == 1 and module is not None and _is_module(code, module):
            yield call, call.args[0]


def _is_module(code: Code, node: ast.AST) -> bool:
    """True for nn.Softmax(dim=0)."""
    if not isinstance(node, ast.Call) or code.torch(node.func) not in ("Softmax", "LogSoftmax"):
        return False
    return _is_0(argument(node, 0, "dim"))


def _is_0(dim: ast.expr | None) -> bool:
    return constant(dim) == 0 and constant(dim) is not False


def _is_of_a_linear_layer(code: Code, scores: ast.expr) -> bool:
    value = code.value(scores)
    maker = creating_call(code, value.func) if isinstance(value, ast.Call) else None
    if maker is not None and code.torch(maker.func) == "Sequential" and maker.args:
        return _is_linear(code, maker.args[-1])
    return maker is not None and _is_linear(code, maker)


def _is_linear(code: Code, layer: ast.AST) -> bool:
    """True for a linear layer with several outputs, unlike attention scores."""
    if not isinstance(layer, ast.Call) or code.torch(layer.func) != "Linear":
        return False
    return constant(argument(layer, 1, "out_features")) != 1


def _is_returned(code: Code, call: ast.Call, function: ast.AST) -> bool:
    statement = code.statement(call)
    if isinstance(statement, ast.Return):
        return statement.value is call
    names = {path(t) for t in statement.targets} if isinstance(statement, ast.Assign) else set()
    return any(
        path(returned.value) in names - {""}
        for returned in code.within(function, ast.Return)
        if code.value(returned.value) is call
    )


def _flattens(code: Code, function: ast.AST) -> bool:
    """True if the function flattens a tensor to one dimension, so that there is no batch."""
    return any(
        not call.args or (len(call.args) == 1 and constant(call.args[0]) == -1)
        for call in code.calls_in(function, "view", "reshape", "flatten")
        if code.method(call) and not path(receiver(call)).startswith("self.")
    )
