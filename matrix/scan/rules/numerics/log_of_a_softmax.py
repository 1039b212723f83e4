from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, names, receiver, source
from ...training import without_grad
from .. import needs
from .shared import PICKS, can_be_0, is_cared_for, is_times, logs

DECODERS = ("decode", "beam", "generate", "predict", "infer", "evaluat", "translate")


@needs("oftmax|exp(", "log(")
def log_of_a_softmax(code: Code) -> Iterator[Hit]:
    for call, inner in logs(code):
        if not can_be_0(code, inner) or without_grad(code, call) or is_cared_for(code, call):
            continue
        if is_times(code, call, inner) or _leaves_the_graph(code, call) or _decodes(code, call):
            continue
        yield Hit(
            call, f"{source(call)} is -inf, with a nan gradient, where the softmax underflows to 0"
        )
    yield from _logs_of_quotients(code)


def _logs_of_quotients(code: Code) -> Iterator[Hit]:
    """Yields log(exp(x) / exp(x).sum()), a softmax that subtracts no maximum."""
    for call, inner in logs(code):
        node: ast.AST | None = inner
        for _ in range(4):
            node = code.value(node)
            if not isinstance(node, ast.Subscript):
                break
            node = node.value
        if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.Div):
            continue
        if without_grad(code, call) or is_cared_for(code, call) or _leaves_the_graph(code, call):
            continue
        above, below = _exponential(code, node.left), _sum_in(code, node.right)
        if above is not None and below is not None and _exponential(code, below) is not None:
            yield Hit(
                call,
                f"{source(call)} is nan where {source(above, 40)} overflows, because it subtracts "
                "no maximum",
            )


def _exponential(code: Code, node: ast.AST | None) -> ast.Call | None:
    """The exp() behind the node, unless the code subtracts a maximum before it."""
    for _ in range(6):
        node = code.value(node)
        if isinstance(node, ast.Subscript):
            node = node.value
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            node = node.left  # exp(x) * mask
        elif isinstance(node, ast.Call) and code.method(node) in PICKS:
            node = receiver(node)
        else:
            break
    if not isinstance(node, ast.Call) or last_name(node.func) != "exp":
        return None
    exponent = argument(node, 0, "input") if node.args else receiver(node)
    parts = [part for part in (exponent, code.value(exponent)) if part is not None]
    if any("max" in name for part in parts for name in names(part)):
        return None
    return node


def _sum_in(code: Code, node: ast.expr) -> ast.expr | None:
    """The terms in the sum, which may be reshaped, or have a small number added."""
    value: ast.AST | None = node
    for _ in range(6):
        value = code.value(value)
        if isinstance(value, ast.Subscript):
            value = value.value
        elif isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
            value = value.left
        elif isinstance(value, ast.Call) and (
            code.method(value) in PICKS or last_name(value.func) == "repeat"
        ):
            value = receiver(value)
        else:
            break
    if not isinstance(value, ast.Call) or last_name(value.func) != "sum":
        return None
    return argument(value, 0, "input") if code.torch(value.func) else receiver(value)


def _decodes(code: Code, call: ast.Call) -> bool:
    """True if the function's name suggests decoding, for which a score of -inf is valid."""
    name = getattr(code.function(call), "name", "").lower()
    return any(word in name for word in DECODERS)


def _leaves_the_graph(code: Code, call: ast.Call) -> bool:
    """True if the logarithm is detached from the graph, for example by .item() or .detach()."""
    return any(
        isinstance(above, ast.Attribute)
        and above.attr in ("item", "detach", "numpy", "tolist", "cpu")
        for above in code.ancestors(call)
    )
