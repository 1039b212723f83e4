from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, path, receiver, source
from ...training import MOVES, OPTIMIZERS, is_fragment, optimizer_steps, rest_of_the_block
from .. import needs
from .shared import optimizer_of

TRAINED = frozenset(
    "Linear Conv1d Conv2d Conv3d Sequential Embedding LSTM GRU Bilinear Parameter".split()
)


@needs("parameters()")
def replaced_layer_does_not_learn(code: Code) -> Iterator[Hit]:
    for node in code.all(ast.Assign):
        optimizer, call = path(node.targets[0]), node.value
        if not optimizer or not isinstance(call, ast.Call):
            continue
        parameters = argument(call, 0, "params")
        if (
            code.torch(call.func) not in OPTIMIZERS
            or not isinstance(parameters, ast.Call)
            or last_name(parameters.func) != "parameters"
        ):
            continue
        model = path(receiver(parameters))
        for later in rest_of_the_block(code, node) if model else ():
            targets = later.targets if isinstance(later, ast.Assign) else []
            if path(targets[0] if targets else None) in (optimizer, model):
                break
            if _names(later) & {"add_param_group", "param_groups"}:
                break
            if (
                isinstance(later, ast.Assign)
                and _is_part_of(later.targets[0], model)
                and _is_layer(code, later.value)
                and _is_stepped(code, node, optimizer)
            ):
                yield Hit(
                    later,
                    f"{optimizer} was created before this assignment, so it does not train the new "
                    f"{source(later.targets[0], 40)}",
                )


def _is_part_of(target: ast.AST, model: str) -> bool:
    """True for model.head, model[1] and model.encoder.layer[2]."""
    if not isinstance(target, (ast.Attribute, ast.Subscript)):
        return False
    while isinstance(target, (ast.Attribute, ast.Subscript)):
        target = target.value
        if path(target) == model:
            return True
    return False


def _is_layer(code: Code, value: ast.expr | None) -> bool:
    while isinstance(value, ast.Call) and last_name(value.func) in MOVES:
        value = receiver(value)
    if not isinstance(value, ast.Call):
        return False
    name = code.full(value.func)
    return name.startswith("torch.nn.") and name.rpartition(".")[2] in TRAINED


def _is_stepped(code: Code, node: ast.Assign, optimizer: str) -> bool:
    steps = optimizer_steps(code, code.function(node))
    return is_fragment(code) or any(path(optimizer_of(code, step)) == optimizer for step in steps)


def _names(statement: ast.stmt) -> set[str]:
    return {part.attr for part in ast.walk(statement) if isinstance(part, ast.Attribute)}
