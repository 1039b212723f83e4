from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, path, receiver, source
from ...training import class_of, is_dead, is_fragment, is_network
from .. import needs
from .shared import is_test, torch_saves

# Calls whose result is not the module itself.
OTHERS = ("state_dict", "script", "trace", "freeze", "symbolic_trace", "convert", "export")
MOVES = ("to", "cuda", "cpu", "half", "float", "eval", "train")


USES = ("parameters", "train", "eval", "state_dict", "zero_grad", "named_parameters")


@needs("save(", "torch")
def whole_model_needs_its_class(code: Code) -> Iterator[Hit]:
    for call in torch_saves(code):
        saved = argument(call, 0, "obj")
        if saved is None:
            continue
        if is_test(code, call) or is_dead(code, call):
            continue
        for model in _models(code, saved):
            yield Hit(
                call,
                f"{source(call)} saves the import path of {source(model)}'s class, but not its "
                "code",
            )


def _models(code: Code, saved: ast.expr) -> Iterator[ast.expr]:
    """Yields the first module in what is saved: itself, or a value of the dict."""
    table = code.value(saved)
    if isinstance(table, ast.Dict):
        yield from [value for value in table.values if _is_used_as_a_module(code, value)][:1]
        return
    while isinstance(saved, ast.Call) and last_name(saved.func) in MOVES:
        saved = receiver(saved) or saved
        if not path(saved):
            break
    if isinstance(saved, ast.Subscript):
        entry = _entry(code, saved)
        if entry is not None and _is_used_as_a_module(code, entry):
            yield saved
    elif _is_model(code, saved):
        yield saved


def _entry(code: Code, part: ast.Subscript) -> ast.expr | None:
    """The value of best["model"], which the same function assigns."""
    for assignment in code.within(code.function(part), ast.Assign):
        target = assignment.targets[0]
        if isinstance(target, ast.Subscript) and ast.unparse(target) == ast.unparse(part):
            return assignment.value  # type: ignore[no-any-return]
    return None


def _is_used_as_a_module(code: Code, node: ast.expr) -> bool:
    """True if the same function, or for self.model the class, uses the name as a module."""
    name = path(node)
    return bool(name) and any(
        path(receiver(call)) == name
        and (
            code.owner(call) is code.owner(node)
            if name.startswith("self.")
            else code.function(call) is code.function(node)
        )
        for used in USES
        for call in code.calls.get(used, ())
        if not any(word in last_name(node).lower() for word in ("optim", "sched", "scaler"))
    )


def _is_model(code: Code, node: ast.AST) -> bool:
    """True if the class of the node, or a call of its parameters(), shows that it is a module."""
    name = path(node)
    if is_fragment(code):
        return name in ("model", "net")
    if _is_passed_as_a_model(code, node):
        return True
    values = code.values(node) if name else [node]
    makers = [
        maker for maker in map(_maker_of, filter(None, values)) if isinstance(maker, ast.Call)
    ]
    # load() only restores the best epoch at the end.
    makers = [maker for maker in makers if last_name(maker.func) != "load"]
    if any(last_name(maker.func) in OTHERS for maker in makers):
        return False
    if not makers and not (name.startswith("self.") and any(values)):
        return False
    if makers and all(_makes_module(code, maker) for maker in makers):
        return True
    return bool(name) and any(
        path(call.func) in (f"{name}.parameters", f"{name}.named_parameters")
        and (code.owner(call) is code.owner(node) or not name.startswith("self."))
        for called in ("parameters", "named_parameters")
        for call in code.calls.get(called, ())
    )


def _is_passed_as_a_model(code: Code, node: ast.AST) -> bool:
    """True if the node is a parameter, and each caller in this file also calls parameters() or
    train() on the object that it passes.
    """
    function, name = code.function(node), path(node)
    if not isinstance(function, ast.FunctionDef) or len(code.values(node)) != 1:
        return False
    names = [parameter.arg for parameter in function.args.args]
    if name not in names or isinstance(code.parent[function], ast.ClassDef):
        return False
    passed = [
        (call, path(argument(call, names.index(name), name)))
        for call in code.calls.get(function.name, ())
    ]
    return bool(passed) and all(
        model
        and any(
            path(use.func) in (f"{model}.parameters", f"{model}.train")
            for used in ("parameters", "train")
            for use in code.calls.get(used, ())
            if code.function(use) is code.function(call)
        )
        for call, model in passed
    )


def _maker_of(value: ast.AST) -> ast.AST:
    """The call that creates the object, such as Net() for Net().to(device)."""
    while isinstance(value, ast.Call) and last_name(value.func) in MOVES:
        model = receiver(value)
        if model is None:
            break
        value = model
    return value


def _makes_module(code: Code, maker: ast.Call) -> bool:
    name = code.full(maker.func)
    if name.startswith("torch.nn.") and last_name(maker.func)[:1].isupper():
        return True
    found = class_of(code, maker)
    return (
        found is not None
        and isinstance(found.node, ast.ClassDef)
        and is_network(found.code, found.node)
    )
