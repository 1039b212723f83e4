"""What goes into a loss, and what becomes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, argument, last_name, path, place, receiver, source
from ...training import certain, criterion, is_module, made, softened

KL_DIV = ("kl_div", "KLDivLoss")

SHAPES = frozenset({"squeeze", "unsqueeze", "view", "reshape", "flatten", "float"})


def losses_with_score(
    code: Code, function: str, module: str
) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls that compute this loss, with what they are given first."""
    for call in code.all(ast.Call):
        score = argument(call, 0, "input")
        if score is None:
            continue
        if code.torch(call.func) == function:
            yield call, score
        elif isinstance(call.func, ast.Call) or path(call.func):
            maker = made(code, call.func)
            if maker is not None and maker is not call and code.torch(maker.func) == module:
                yield call, score


def made_by_a(code: Code, node: ast.AST, function: str, module: str, depth: int = 3) -> str:
    """How this was made by such a call, if it is what a network of this file ends in: the call, or
    "Net ends in" it; "" where that is not known.
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
    maker = made(code, value.func) if path(value.func) else None
    if maker is None:
        return ""
    if code.torch(maker.func) == module:
        return source(value, 40)
    if code.torch(maker.func) == "Sequential":
        last = code.value(maker.args[-1]) if maker.args else None
        is_so = isinstance(last, ast.Call) and code.torch(last.func) == module
        return f"its network ends in {source(last, 40)}" if last is not None and is_so else ""
    classes = [one for one in code.all(ast.ClassDef) if one.name == code.full(maker.func)]
    return ends_so(code, classes[0], function, module, depth) if len(classes) == 1 else ""


def because(score: ast.expr, how: str) -> str:
    """How it is known, in parentheses; "" if the score itself says so."""
    return "" if source(score) == how else f" ({how})"


def is_changed_in_place(code: Code, name: ast.AST, value: ast.AST) -> bool:
    """out.sigmoid_() between the value and its use, also at the end of a chain."""
    for call in code.calls_in(code.function(name)):
        of: ast.AST | None = call
        while isinstance(of, ast.Call):
            of = receiver(of)
        if (
            last_name(call.func).endswith("_")
            and of is not None
            and path(of) == path(name) != ""
            and place(value) < place(call) < place(name)
        ):
            return True
    return False


def ends_so(code: Code, owner: ast.ClassDef, function: str, module: str, depth: int) -> str:
    """How all that its forward() returns was made."""
    forwards = [
        one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == "forward"
    ]
    if len(forwards) != 1 or not is_module(code, owner):
        return ""
    ends = [
        made_by_a(code, one.value, function, module, depth - 1) if one.value is not None else ""
        for one in code.within(forwards[0], ast.Return)
    ]
    return f"{owner.name} ends in {ends[0]}" if ends and all(ends) else ""


def is_softened(code: Code, value: ast.Call, function: str, module: str) -> bool:
    if path(receiver(value)) == "self":  # self.softmax(x): a LogSoftmax is called so too
        return criterion(code, value, function, module)
    return softened(code, value, function, module) is not None
