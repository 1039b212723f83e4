from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, receiver, source
from ...training import (
    class_of,
    creating_call,
    in_a_test,
    is_dead,
    is_fragment,
    is_loader,
    is_network,
)
from .. import needs

MODELS = ("model", "net", "network", "classifier", "discriminator", "critic")
LOSSES = ("loss", "crit", "bce", "mse")


@needs(".squeeze()|torch.squeeze(")
def squeeze_removes_the_batch(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("squeeze", ()):
        squeezed = call.args[0] if code.torch(call.func) else receiver(call)
        if squeezed is None or len(call.args) != int(bool(code.torch(call.func))) or call.keywords:
            continue
        if is_dead(code, call) or in_a_test(code, call):
            continue
        if (
            _is_pooled(code, call, squeezed)
            or _is_a_layers_output(code, call, squeezed)
            or _is_compared(code, call, squeezed)
            or _is_gathered(code, call, squeezed)
        ):
            yield Hit(
                call,
                f"{source(call, 40)} also removes the batch dimension if the batch has one sample",
            )


def _is_pooled(code: Code, call: ast.Call, node: ast.expr) -> bool:
    """True for the output of a pooling layer in the forward() of a module."""
    value = code.value(node)
    if not isinstance(value, ast.Call) or "pool" not in last_name(value.func).lower():
        return False
    if is_fragment(code):
        return True
    function = code.function(call)
    return getattr(function, "name", "") == "forward" and is_network(code, code.owner(call))


def _is_a_layers_output(code: Code, call: ast.Call, node: ast.expr) -> bool:
    """True for the output of a layer of self in forward(), which is returned or goes on."""
    value = code.value(node)
    if not isinstance(value, ast.Call) or not path(value.func).startswith("self."):
        return False
    maker = creating_call(code, value.func)
    function = code.function(call)
    return (
        maker is not None
        and _makes_a_network(code, maker)
        and getattr(function, "name", "") == "forward"
        and is_network(code, code.owner(call))
        and not code.loops(call)
    )


def _makes_a_network(code: Code, maker: ast.Call) -> bool:
    """True if the call creates a layer of torch, or a network of this file."""
    if code.full(maker.func).startswith("torch.nn."):
        return code.torch(maker.func) not in ("Embedding", "Parameter")
    made = class_of(code, maker)
    return (
        made is not None
        and isinstance(made.node, ast.ClassDef)
        and is_network(made.code, made.node)
    )


def _is_gathered(code: Code, call: ast.Call, node: ast.expr) -> bool:
    """True for q.gather(1, actions).squeeze() in a function that trains."""
    value = code.value(node)
    if not isinstance(value, ast.Call) or last_name(value.func) != "gather":
        return False
    dim = constant(argument(value, int(bool(code.torch(value.func))), "dim"))
    return dim in (1, -1) and bool(code.calls_in(code.function(call), "backward"))


def _is_compared(code: Code, call: ast.Call, node: ast.expr) -> bool:
    """True for a model's output if a loop over a loader computes a loss from it."""
    value = code.value(node)
    if not isinstance(value, ast.Call) or (
        last_name(value.func).lower() not in MODELS and not last_name(value.func).endswith("model")
    ):
        return False
    if not any(
        isinstance(loop, ast.For) and is_loader(code, loop.iter) for loop in code.loops(call)
    ):
        return False
    if "drop_last=True" in code.text:
        return False
    statement = code.statement(call)
    name = path(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    return any(
        any(word in part.lower() for part in names(loss.func) for word in LOSSES)
        and bool(loss.args)
        and (path(loss.args[0]) == name != "" or call in ast.walk(loss.args[0]))
        for loss in code.calls_in(code.function(call))
    )
