from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, place, receiver
from ...training import OPTIMIZERS, epoch_loop, optimizer_steps
from .. import needs
from .shared import optimizer_of


@needs("para", "step(|train(", "epoch")
def optimizer_is_built_in_each_epoch(code: Code) -> Iterator[Hit]:
    yield from _built_in_a_function(code)
    for node in code.all(ast.Assign):
        optimizer, call = path(node.targets[0]), node.value
        if not isinstance(call, ast.Call) or code.torch(call.func) not in OPTIMIZERS:
            continue
        loops = code.loops(node)
        if not optimizer or not loops or not _runs_in_most_passes(code, node, loops[0]):
            continue
        if loops[0] is not epoch_loop(code, node) or not _has_momentum(code, call):
            continue
        model = _model(call)
        if not model or _is_made_in(code, loops[0], model, node):
            continue
        if any(
            path(optimizer_of(code, step)) == optimizer and code.loops(step)[0] is not loops[0]
            for step in optimizer_steps(code, loops[0])
        ) or (code.parent[node] is not loops[0] and _is_handed_on(code, loops[0], optimizer)):
            yield Hit(node, f"{optimizer} is new in every epoch, so its running averages are lost")


def _runs_in_most_passes(code: Code, node: ast.AST, loop: ast.AST) -> bool:
    """True in the loop itself, and in `if epoch >= start:`, unlike in `if epoch == start:`."""
    for above in code.ancestors(node):
        if above is loop:
            return True
        if not isinstance(above, ast.If) or node in above.orelse:
            return False
        if isinstance(above.test, ast.Compare):
            (first,) = above.test.ops[:1]
            counter = names(above.test) & names(getattr(loop, "target", loop))
            if not counter or not isinstance(first, (ast.Gt, ast.GtE)) or _sets_a_flag(above):
                return False
        elif (
            not path(above.test) and not isinstance(above.test, ast.Call)
        ) or above is code.parent[node]:
            return False
    return False


def _sets_a_flag(branch: ast.If) -> bool:
    return any(
        isinstance(part, ast.Assign) and isinstance(constant(part.value), bool)
        for part in branch.body
    )


def _is_handed_on(code: Code, loop: ast.AST, optimizer: str) -> bool:
    """True if the loop calls a function with the optimizer, which trains for an epoch."""
    return any(
        "train" in last_name(call.func).lower()
        and optimizer in {path(value) for value in call.args}
        for call in code.calls_in(loop)
    )


def _built_in_a_function(code: Code) -> Iterator[Hit]:
    """Yields the optimizer of a function that trains for some steps, if a loop over epochs calls
    the function with the same model each time.
    """
    for node in code.all(ast.Assign):
        function, call = code.function(node), node.value
        if not isinstance(call, ast.Call) or code.torch(call.func) not in OPTIMIZERS:
            continue
        if not isinstance(function, ast.FunctionDef) or code.parent[node] is not function:
            continue
        first = next((part for part in ast.walk(call) if path(part) == _root(call) != ""), None)
        roots = {path(value).partition(".")[0] for value in (first, code.value(first)) if value}
        parameters = {parameter.arg for parameter in function.args.args}
        if not roots & parameters or not _has_momentum(code, call):
            continue
        name = path(node.targets[0])
        if not any(
            path(optimizer_of(code, step)) == name for step in optimizer_steps(code, function)
        ):
            continue
        for use in code.calls.get(function.name, ()):
            loop = epoch_loop(code, use)
            if code.function(use) is function:  # self.model.train() in train() is another method
                continue
            if loop is None or code.loops(use)[:1] != [loop] or _makes_models(code, loop, use):
                continue
            yield Hit(node, f"{name} is new in every epoch, so its running averages are lost")
            break


def _root(call: ast.Call) -> str:
    return _model(call).partition(".")[0]


def _makes_models(code: Code, loop: ast.For, use: ast.Call) -> bool:
    """True if the loop assigns what it passes to the function, such as a new model."""
    passed = {path(value).partition(".")[0] for value in use.args}
    return any(
        path(target).partition(".")[0] in passed
        for assignment in code.within(loop, ast.Assign)
        for target in assignment.targets
    )


def _has_momentum(code: Code, call: ast.Call) -> bool:
    if code.torch(call.func) == "SGD":
        momentum = argument(call, 2, "momentum")
        return momentum is not None and constant(momentum) != 0
    return True


def _model(call: ast.Call) -> str:
    parameters = argument(call, 0, "params")
    if isinstance(parameters, (ast.List, ast.Tuple)) and len(parameters.elts) == 1:
        group = parameters.elts[0]
        keys = [constant(key) for key in group.keys] if isinstance(group, ast.Dict) else []
        if isinstance(group, ast.Dict) and "params" in keys:
            parameters = group.values[keys.index("params")]
    if isinstance(parameters, ast.Call) and "para" in last_name(parameters.func):
        return path(receiver(parameters))
    if isinstance(parameters, ast.Call) and last_name(parameters.func) == "parameters":
        return path(receiver(parameters))
    return ""


def _is_made_in(code: Code, loop: ast.AST, model: str, node: ast.Assign) -> bool:
    """True if the loop also makes a new model, as for the folds of a cross-validation."""
    return any(
        path(target) == model.partition(".")[0] or path(target) == model
        for assignment in code.within(loop, ast.Assign)
        for target in assignment.targets
        if place(assignment) < place(node)
    )
