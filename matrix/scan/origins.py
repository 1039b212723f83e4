"""Traces a value to the call of a function or module that computed it."""

from __future__ import annotations

import ast

from .code import Code, last_name, path, place, receiver, source
from .training import certain, class_of, creating_call, criterion, is_module, softened

SHAPES = frozenset(
    "squeeze unsqueeze view reshape flatten float permute transpose contiguous".split()
)


def made_by_a(code: Code, node: ast.AST, function: str, module: str, depth: int = 3) -> str:
    """Describes how a call of the function or module computed the node.

    The text is the call itself, or it names the network in this file that ends with the call.
    Returns "" if the origin is uncertain.
    """
    value = code.value(node)
    while isinstance(value, ast.Call) and code.method(value) in SHAPES:
        if not certain(code, value, node):
            return ""
        node = receiver(value) or value
        value = code.value(node)
    if not isinstance(value, ast.Call) or not certain(code, value, node) or not depth:
        return ""
    if is_changed_in_place(code, node, value):
        return ""
    if is_softened(code, value, function, module):
        return source(value, 40)
    if code.full(value.func) in ("self", "self.forward"):
        owner = code.owner(value)
        return ends_so(code, owner, function, module, depth) if owner is not None else ""
    maker = creating_call(code, value.func) if path(value.func) else None
    if maker is None:
        return ""
    if code.torch(maker.func) == module:
        return source(value, 40)
    if code.torch(maker.func) == "Sequential":
        last = code.value(maker.args[-1]) if maker.args else None
        matches = isinstance(last, ast.Call) and code.torch(last.func) == module
        return f"its network ends in {source(last, 40)}" if last is not None and matches else ""
    found = class_of(code, maker)
    if found is None or not isinstance(found.node, ast.ClassDef):
        return ""
    return ends_so(found.code, found.node, function, module, depth)


def because(score: ast.expr, how: str) -> str:
    """The origin of the score in parentheses, or "" if the score itself makes it clear."""
    return "" if source(score) == how else f" ({how})"


def is_changed_in_place(code: Code, name: ast.AST, value: ast.AST) -> bool:
    """True if a call such as out.sigmoid_(), even in a chain, occurs before the value is used."""
    for call in code.calls_in(code.function(name)):
        inner: ast.AST | None = call
        while isinstance(inner, ast.Call):
            inner = receiver(inner)
        if (
            last_name(call.func).endswith("_")
            and inner is not None
            and path(inner) == path(name) != ""
            and place(value) < place(call) < place(name)
        ):
            return True
    return False


def ends_so(code: Code, owner: ast.ClassDef, function: str, module: str, depth: int) -> str:
    """Describes how forward() computes all of its results, or "" if one of them is uncertain."""
    forwards = [
        method
        for method in owner.body
        if isinstance(method, ast.FunctionDef) and method.name == "forward"
    ]
    if len(forwards) != 1 or not is_module(code, owner):
        return ""
    ends = [
        made_by_a(code, statement.value, function, module, depth - 1)
        if statement.value is not None
        else ""
        for statement in code.within(forwards[0], ast.Return)
    ]
    if not ends or not all(ends):
        return ""
    return f"{owner.name} ends in {ends[0].rpartition(' ends in ')[2]}"


def is_softened(code: Code, value: ast.Call, function: str, module: str) -> bool:
    if path(receiver(value)) == "self":  # self.softmax(x) may be a LogSoftmax
        return criterion(code, value, function, module)
    return softened(code, value, function, module) is not None
