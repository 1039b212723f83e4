from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path, receiver
from ...training import is_fragment, is_network
from .. import needs


@needs("def train(")
def train_without_super(code: Code) -> Iterator[Hit]:
    for function in code.all(ast.FunctionDef):
        owner = code.owner(function)
        if function.name != "train" or not _takes_a_mode(function):
            continue
        if not (is_fragment(code) or (owner is not None and is_network(code, owner))):
            continue
        if owner is not None and _keeps_its_own_mode(code, owner, function):
            continue
        if not any(_calls_the_base(call) for call in code.calls_in(function, "train")):
            yield Hit(
                function,
                "this train() does not call super().train(mode), so train() and eval() leave the "
                "other layers in their previous mode",
            )


def _takes_a_mode(function: ast.FunctionDef) -> bool:
    arguments = function.args.args[1:]
    if len(arguments) != 1 or len(function.args.defaults) != 1:
        return False
    return constant(function.args.defaults[0]) is True


def _keeps_its_own_mode(code: Code, owner: ast.ClassDef, train: ast.FunctionDef) -> bool:
    """True if the class also replaces eval(), and both methods set a mode with another name."""
    replaced = {getattr(method, "name", "") for method in owner.body}
    attributes = {part.attr for part in code.within(train, ast.Attribute)}
    return "eval" in replaced and "training" not in attributes and not code.calls_in(train)


def _calls_the_base(call: ast.Call) -> bool:
    """True for super().train(mode), Base.train(self, mode) and calls for all parts."""
    base = receiver(call)
    if isinstance(base, ast.Call):
        return path(base.func) == "super"
    return (bool(call.args) and path(call.args[0]) == "self") or last_name(base or call) in (
        "module",
        "child",
        "layer",
        "m",
    )
