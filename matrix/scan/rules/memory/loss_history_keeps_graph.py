from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path, receiver, source
from ...project import Definition
from ...training import (
    backward_of,
    backwards,
    class_of,
    creating_call,
    is_fragment,
    without_grad,
)
from .. import needs

NUMBERS = ("item", "float", "detach", "tolist", "cpu", "numpy", "mean_item")


@needs("+=|.update(")
def loss_history_keeps_graph(code: Code) -> Iterator[Hit]:
    yield from _summed_by_a_meter(code)
    for addition in code.all(ast.AugAssign):
        total, loss = path(addition.target), path(addition.value)
        if not isinstance(addition.op, ast.Add) or not total or not loss:
            continue
        if _is_trained(code, addition, loss) and not without_grad(code, addition):
            yield Hit(
                addition,
                f"{total} keeps the graph of {loss} from every step; {loss}.item() has no graph",
            )


def _summed_by_a_meter(code: Code) -> Iterator[Hit]:
    """Yields meter.update(loss), if the meter's class adds up the values that it receives."""
    for call in code.calls.get("update", ()):
        meter, loops = receiver(call), code.loops(call)
        if meter is None or not call.args or not loops or without_grad(code, call):
            continue
        trained = {path(part) for back in backwards(code, loops[0]) for part in _terms(code, back)}
        first = call.args[0]  # a loss, or a dict of losses
        losses = [
            value
            for value in (first.values if isinstance(first, ast.Dict) else [first])
            if path(value) in trained - {""} and not _is_number(code, value)
        ]
        maker = creating_call(code, meter) if losses else None
        found = class_of(code, maker) if maker is not None else None
        if found is not None and _adds(found):
            loss = path(losses[0])
            yield Hit(
                call,
                f"{source(meter)} adds up {loss} and keeps the graph of every step; {loss}.item() "
                "has no graph",
            )


def _is_number(code: Code, loss: ast.expr) -> bool:
    value = code.value(loss)
    return isinstance(value, ast.Call) and last_name(value.func) in NUMBERS


def _terms(code: Code, back: ast.Call) -> list[ast.AST]:
    """The loss of backward(), and the terms of the sums that it was assigned."""
    loss = backward_of(back)
    if loss is None:
        return []
    sums = [value for value in code.values(loss) if isinstance(value, ast.BinOp)]
    return [loss, *(part for value in sums for part in ast.walk(value))]


def _adds(meter: Definition) -> bool:
    """True if update(value) adds the value itself to an attribute, not a number made from it."""
    methods = {part.name: part for part in meter.node.body if isinstance(part, ast.FunctionDef)}
    update = methods.get("update")
    if update is None or len(update.args.args) < 2:
        return False
    given = {update.args.args[1].arg}
    if meter.code.calls_in(update, *NUMBERS) or meter.code.calls_in(update, "is_tensor"):
        return False
    for part in meter.code.within(update, (ast.Assign, ast.For)):  # value = values[key]
        read = part.value if isinstance(part, ast.Assign) else part.iter
        if any(path(name) in given for name in ast.walk(read)):
            targets = part.targets if isinstance(part, ast.Assign) else [part.target]
            given |= {path(name) for target in targets for name in ast.walk(target)} - {"", "self"}
    return any(
        ast.unparse(addition.target).startswith("self.")
        and any(path(part) in given for part in ast.walk(addition.value))
        for addition in meter.code.within(update, ast.AugAssign)
    )


def _is_trained(code: Code, addition: ast.AugAssign, loss: str) -> bool:
    """True if the loop calls backward() for this loss, and adds it up only for the log."""
    value = code.value(addition.value)
    if isinstance(value, ast.Call) and last_name(value.func) in NUMBERS:
        return False
    if isinstance(value, (ast.Constant, ast.Subscript)) or path(value).endswith(".data"):
        return False
    loops = code.loops(addition)
    if not loops:
        return is_fragment(code) and loss == "loss"
    totals = code.values(addition.target)
    if not any(isinstance(constant(first), (int, float)) for first in totals):
        return False
    trained = {path(backward_of(call)) for call in backwards(code, code.function(addition))}
    here = {path(backward_of(call)) for call in backwards(code, loops[0])}
    return loss in here and path(addition.target) not in trained
