from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, names, path, place, receiver, source
from ...project import Definition, definition, imported
from ...training import (
    OPTIMIZERS,
    backwards,
    class_of,
    creating_call,
    functions_called,
    is_fragment,
    is_network,
    optimizer_steps,
    without_grad,
)
from .. import needs

MODES = ("train", "eval", "zero_grad", "parameters", "state_dict", "load_state_dict", "to", "cuda")


@needs(".eval()|backward(")
def predict_leaves_eval_mode(code: Code) -> Iterator[Hit]:
    yield from _evaluates_in_a_function(code)
    yield from _evaluates_in_another_class(code)
    yield from _is_made_in_eval_mode(code)
    for call in code.calls.get("eval", ()):
        model = path(receiver(call))
        if not model or call.args or call.keywords:
            continue
        if is_fragment(code):
            if not code.calls.get("train"):
                yield Hit(call, f"nothing calls {model}.train() after {model}.eval()")
            continue
        loop = next((loop for loop in code.loops(call) if backwards(code, loop)), None)
        if loop is None or not optimizer_steps(code, loop):
            continue
        if (
            not _may_set_train_mode(code, loop, model)
            and _is_trained(code, loop, model)
            and not _leaves_the_loop(code, call, loop)
            and (_is_set_to_train(code, model, call) or _is_optimized(code, model))
            and (
                place(call) > place(backwards(code, loop)[0]) or _is_set_to_train(code, model, call)
            )
        ):
            yield Hit(
                call,
                f"nothing in this loop calls {model}.train() again, so training continues in eval "
                f"mode after the first {model}.eval()",
            )


def _evaluates_in_a_function(code: Code) -> Iterator[Hit]:
    """Yields the eval() of each function that a training loop calls with its model, if nothing in
    the loop sets train mode again.
    """
    for loop in code.all(ast.For):
        if not backwards(code, loop) or not optimizer_steps(code, loop):
            continue
        for call in code.calls_in(loop):
            for name in (path(value) for value in call.args[:1]):
                function = next(iter(functions_called(code, call)), None)
                if not name or function is None or not function.args.args:
                    continue
                model = function.args.args[0].arg
                evals = [
                    inner
                    for inner in code.calls_in(function, "eval")
                    if path(receiver(inner)) == model and not inner.args
                ]
                if (
                    evals
                    and not code.calls_in(function, "train")
                    and not code.calls_in(loop, "train")
                    and not _may_set_train_mode(code, loop, name)
                    and _is_trained(code, loop, name)
                    and not _leaves_the_loop(code, call, loop)
                    and not backwards(code, function)
                ):
                    yield Hit(
                        evals[-1],
                        f"{function.name}() leaves the model in eval mode, and the loop that "
                        f"trains {name} does not call {name}.train() again",
                    )


def _evaluates_in_another_class(code: Code) -> Iterator[Hit]:
    """Yields evaluator.run(model) and model.generate() in a training loop, if the method sets eval
    mode and nothing in the loop sets train mode again.
    """
    for loop in code.all(ast.For):
        if not backwards(code, loop) or not optimizer_steps(code, loop):
            continue
        if code.calls_in(loop, "train"):
            continue
        for call in code.calls_in(loop):
            for name in [path(value) for value in call.args] + [path(receiver(call))]:
                if (
                    name
                    and _stays_in_eval_mode(code, call, name)
                    and not _may_set_train_mode(code, loop, name)
                    and (
                        any(path(each.func) == name for each in code.calls_in(loop))
                        or _is_optimized(code, name)
                    )
                    and not _leaves_the_loop(code, call, loop)
                ):
                    yield Hit(
                        call,
                        f"{source(call.func)}() leaves {name} in eval mode, and this loop does not "
                        f"call {name}.train() again",
                    )
                    break


def _stays_in_eval_mode(code: Code, call: ast.Call, name: str) -> bool:
    """True if the called function of another file or class sets eval mode for this model only."""
    for found in _called(code, call):
        parameters = [parameter.arg for parameter in found.node.args.args]  # type: ignore[union-attr]
        offset = bool(parameters) and parameters[0] in ("self", "cls")
        if path(receiver(call)) == name:
            model = "self"
        else:
            position = [path(value) for value in call.args].index(name) + offset
            model = parameters[position] if position < len(parameters) else ""
        if (
            any(
                path(receiver(inner)) == model != ""
                and not inner.args
                and not found.code.conditions(inner)
                for inner in found.code.calls_in(found.node, "eval")
            )
            and not found.code.calls_in(found.node, "train")
            and not backwards(found.code, found.node)
        ):
            return True
    return False


def _called(code: Code, call: ast.Call) -> Iterator[Definition]:
    """Yields the function of another file, or the method of a class, that may be called."""
    owner = receiver(call)
    found = definition(code, call.func)
    if found is not None and found.code is not code and isinstance(found.node, ast.FunctionDef):
        yield found
    if owner is None or last_name(call.func) in MODES:
        return
    maker = creating_call(code, owner)
    made = class_of(code, maker) if maker is not None else None
    if made is not None:
        classes = [made] if isinstance(made.node, ast.ClassDef) else []
    elif last_name(owner) in ("model", "net"):
        classes = [
            Definition(file, each)
            for file in imported(code, ".eval()")
            for each in file.all(ast.ClassDef)
            if is_network(file, each)
        ]
    else:
        classes = []
    for each in classes:
        for part in each.node.body:
            if isinstance(part, ast.FunctionDef) and part.name == last_name(call.func):
                yield Definition(each.code, part)


def _is_made_in_eval_mode(code: Code) -> Iterator[Hit]:
    """Yields the call of a function that returns a model in eval mode, if the file trains this
    model and never calls train().
    """
    if not code.calls.get("backward") or is_fragment(code):
        return
    own = {node.name for node in code.all(ast.ClassDef)}
    modes = [call for call in code.calls.get("train", ()) if not _is_of_a(code, call, own)]
    if modes:  # unlike trainer.train(), of a class of this file
        return
    for call in code.all(ast.Call):
        statement = code.parent[call]
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            continue
        model = path(statement.targets[0])
        if not model or not _is_optimized(code, model, call):
            continue
        found = definition(code, call.func)
        if found is not None and isinstance(found.node, ast.FunctionDef) and _evaluates(found):
            yield Hit(
                call,
                f"{found.node.name}() sets eval mode, and nothing in this file calls "
                f"{model}.train()",
            )


def _is_of_a(code: Code, call: ast.Call, classes: set[str]) -> bool:
    """True if the object is of a class of this file that is not a network."""
    maker = creating_call(code, receiver(call))
    made = class_of(code, maker) if maker is not None else None
    return (
        made is not None
        and isinstance(made.node, ast.ClassDef)
        and made.node.name in classes
        and not is_network(made.code, made.node)
    )


def _evaluates(function: Definition) -> bool:
    """True if the function calls eval() on what it returns, but not train()."""
    code, node = function.code, function.node
    returned = {path(part) for back in code.within(node, ast.Return) for part in ast.walk(back)}
    return not code.calls_in(node, "train") and any(
        path(receiver(call)) in returned - {""} for call in code.calls_in(node, "eval")
    )


def _may_set_train_mode(code: Code, loop: ast.AST, model: str) -> bool:
    """True if any code in the loop may set train mode."""
    wanted = set(model.split(".")) - {"self"}
    defined = {
        function.name: function
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for function in code.all(kind)
        if isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef))
    }
    for call in code.calls_in(loop):
        name, owner = last_name(call.func), receiver(call)
        if name == "train" and (
            path(owner) in ("", model)
            or names(call.func) & wanted
            or model.startswith(f"{path(owner)}.")
        ):
            return True
        handed = any(path(value) == model for value in call.args)
        if handed and {"train", "mode"} & set(name.split("_")):
            return True
        if name in defined and any(
            last_name(part.func) == "train"
            for part in ast.walk(defined[name])
            if isinstance(part, ast.Call)
        ):
            return True
    targets = {
        part.id
        for inner in code.within(loop, ast.For)
        for part in ast.walk(inner.target)
        if isinstance(part, ast.Name)
    }
    return any(path(receiver(call)) in targets for call in code.calls_in(loop, "train"))


def _is_trained(code: Code, loop: ast.AST, model: str) -> bool:
    """True if the loop calls the model with gradients, or passes it to a call that may do so."""
    owned = model.startswith("self.")
    for call in code.calls_in(loop):
        func = f"{path(call.func)}."
        used = func.startswith(f"{model}.") and last_name(call.func) not in MODES
        handed = any(
            path(value) == model for value in [*call.args, *(k.value for k in call.keywords)]
        )
        if (used or handed or (owned and func.startswith("self."))) and not without_grad(
            code, call
        ):
            return True
    return False


def _leaves_the_loop(code: Code, node: ast.AST, loop: ast.AST) -> bool:
    """True if the code leaves the loop after the node."""
    statement: ast.AST = code.statement(node)
    while statement is not loop:
        if isinstance(statement, ast.stmt) and any(
            isinstance(later, (ast.Return, ast.Break, ast.Raise))
            for later in code.block(statement)
            if place(later) > place(statement)
        ):
            return True
        statement = code.parent[statement]
    return False


def _is_set_to_train(code: Code, model: str, call: ast.Call) -> bool:
    """True if the function or the class also calls train() on the model."""
    return any(
        path(train.func) == f"{model}.train"
        and (model.startswith("self.") or code.function(train) is code.function(call))
        for train in code.calls.get("train", ())
    )


def _is_optimized(code: Code, model: str, within: ast.AST | None = None) -> bool:
    """True if an optimizer gets the model's parameters, in the function of `within` if given."""
    return any(
        path(part) == f"{model}.parameters"
        and (
            within is None
            or model.startswith("self.")
            or code.function(part) is code.function(within)
        )
        for name in OPTIMIZERS
        for call in code.calls.get(name, ())
        for value in [*call.args, *(keyword.value for keyword in call.keywords)]
        for part in ast.walk(value)
    )
