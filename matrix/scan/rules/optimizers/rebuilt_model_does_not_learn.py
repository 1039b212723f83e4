from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, path, receiver
from ...training import MOVES, OPTIMIZERS, optimizer_steps, rest_of_the_block
from .. import needs
from .shared import optimizer_of


@needs("parameters()", "step(")
def rebuilt_model_does_not_learn(code: Code) -> Iterator[Hit]:
    for node in code.all(ast.Assign):
        optimizer, call = path(node.targets[0]), node.value
        if (
            not optimizer
            or not isinstance(call, ast.Call)
            or code.torch(call.func) not in OPTIMIZERS
        ):
            continue
        parameters = argument(call, 0, "params")
        if not isinstance(parameters, ast.Call) or last_name(parameters.func) != "parameters":
            continue
        model = path(receiver(parameters))
        after = rest_of_the_block(code, node)
        for at, later in enumerate(after):
            if not _assigns(code, later, optimizer) and not _assigns(code, later, model):
                continue
            if (
                isinstance(later, ast.Assign)
                and path(later.targets[0]) == model
                and _is_new(code, later.value, model)
                and _is_stepped(code, after[at + 1 :], optimizer)
            ):
                yield Hit(later, f"{optimizer} still holds the parameters of the previous {model}")
            break


def _assigns(code: Code, statement: ast.stmt, name: str) -> bool:
    return any(
        path(part) == name
        for assignment in code.within(statement, ast.Assign)
        for target in assignment.targets
        for part in ast.walk(target)
    )


def _is_new(code: Code, value: ast.expr, model: str) -> bool:
    """True if the value is a new model without parts of the old model, as in Net(3).to(device)."""
    while isinstance(value, ast.Call) and last_name(value.func) in MOVES:
        above = receiver(value)
        if above is None:
            return False
        value = above
    return (
        isinstance(value, ast.Call)
        and last_name(value.func)[:1].isupper()
        and not any(model in (path(part), path(code.value(part))) for part in ast.walk(value))
    )


def _is_stepped(code: Code, later: list[ast.stmt], optimizer: str) -> bool:
    """True if the optimizer is stepped before it is created again."""
    for statement in later:
        if any(
            path(optimizer_of(code, step)) == optimizer for step in optimizer_steps(code, statement)
        ):
            return True
        used = {part.attr for part in ast.walk(statement) if isinstance(part, ast.Attribute)}
        if _assigns(code, statement, optimizer) or used & {"param_groups", "add_param_group"}:
            return False
    return False
