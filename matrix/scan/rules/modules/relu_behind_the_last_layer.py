from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, names, path
from ...origins import made_by_a
from ...training import is_dead, is_fragment, is_network
from .. import needs

RELUS = (("relu", "ReLU"), ("relu6", "ReLU6"))


@needs("relu(|ReLU|relu6")
def relu_behind_the_last_layer(code: Code) -> Iterator[Hit]:
    if is_fragment(code):
        for node in code.all(ast.Assign):
            if path(node.targets[0]) == "output" and _how(code, node.value):
                yield Hit(node.value, "negative outputs of the last layer become 0")
        return
    for owner in code.all(ast.ClassDef):
        if not is_network(code, owner) or not _counts_classes(code, owner):
            continue
        for method in owner.body:
            if not isinstance(method, ast.FunctionDef) or method.name != "forward":
                continue
            for statement in code.within(method, ast.Return):
                how = _how(code, statement.value)
                if how and not is_dead(code, statement):
                    yield Hit(
                        statement,
                        f"the outputs of {owner.name} go through a ReLU, so a class whose "
                        "output is negative gets 0 and no gradient",
                    )


def _how(code: Code, value: ast.expr | None) -> str:
    if value is None:
        return ""
    return next((how for relu in RELUS if (how := made_by_a(code, value, *relu))), "")


def _counts_classes(code: Code, owner: ast.ClassDef) -> bool:
    """True if forward() calls a layer that __init__() creates for the number of classes."""
    methods = {part.name: part for part in owner.body if isinstance(part, ast.FunctionDef)}
    if not methods.keys() >= {"__init__", "forward"}:
        return False
    called = {path(call.func) for call in code.calls_in(methods["forward"])}
    return any(
        path(node.targets[0]) in called
        and any("class" in name or name in ("num_labels", "n_labels") for name in names(node.value))
        for node in code.within(methods["__init__"], ast.Assign)
    )
