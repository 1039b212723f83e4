"""Helpers for values that are nan, infinite or misleadingly named."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, argument, last_name, path, receiver
from ...training import in_a_test, softened

PICKS = ("gather", "squeeze", "unsqueeze", "view", "reshape", "transpose", "permute", "t", "float")

CARES = {
    *("nan_to_num", "nanmean", "nansum", "nanmedian", "isnan", "isinf", "isfinite"),
    *("where", "errstate", "masked_fill", "xlogy"),
}

MASKS = {"where", "masked_fill"}

BOUNDED = ("tanh", "sigmoid", "softmax", "cosine_similarity", "normalize")  # outputs span up to 2


def logs(code: Code) -> Iterator[tuple[ast.Call, ast.expr]]:
    """Yields the logarithms, each with its argument."""
    for name in ("log", "log2", "log10"):
        for call in code.calls.get(name, ()):
            inner = argument(call, 0, "input") if code.torch(call.func) else receiver(call)
            if inner is not None and (code.torch(call.func) or not call.args):
                yield call, inner


def softmax_in(code: Code, node: ast.expr) -> ast.AST | None:
    """The softmax call behind the node, traced through names, indexing and reshaping."""
    value = code.value(node)
    if isinstance(value, ast.Subscript):
        return softmax_in(code, value.value)
    if isinstance(value, ast.Call) and code.method(value) in PICKS:
        inner = receiver(value)
        return softmax_in(code, inner) if inner is not None else None
    if isinstance(value, ast.Call) and code.torch(value.func) in PICKS and value.args:
        return softmax_in(code, value.args[0])
    return softened(code, value, "softmax", "Softmax")


def can_be_0(code: Code, node: ast.expr) -> bool:
    """True if the node is a softmax, unless a bounded function keeps the scores close together."""
    softmax = softmax_in(code, node)
    scores = None
    if isinstance(softmax, ast.Call):
        scores = argument(softmax, 0, "input") if softmax.args else receiver(softmax)
        if code.method(softmax) == "softmax":
            scores = receiver(softmax)
    value = code.value(scores)
    is_close = isinstance(value, ast.Call) and last_name(value.func) in BOUNDED
    return softmax is not None and not is_close


def is_cared_for(code: Code, call: ast.Call) -> bool:
    """True if the code handles non-finite values, or the call is in a test."""
    function = code.function(call)
    around = function if function is not code.tree else code.statement(call)
    inner = argument(call, 0, "input") if code.torch(call.func) else receiver(call)
    return (
        in_a_test(code, call)
        or any(last_name(other.func) in CARES - MASKS for other in code.calls_in(around))
        or any(
            last_name(other.func).startswith(("clamp", "clip", "add"))
            and last_name(other.func).endswith("_")
            and path(receiver(other)) == path(inner) != ""
            for other in code.calls_in(around)
        )
        or any(
            isinstance(above, ast.Call) and last_name(above.func) in MASKS
            for above in code.ancestors(call)
        )
    )


def is_times(code: Code, call: ast.Call, inner: ast.expr) -> ast.BinOp | None:
    """The product of the logarithm and its argument, or None."""
    for above in code.ancestors(call):
        if not isinstance(above, ast.BinOp):
            if isinstance(above, ast.UnaryOp):
                continue
            return None
        if isinstance(above.op, ast.Mult):
            wanted = ast.dump(inner)
            sides = (above.left, above.right)
            return above if any(ast.dump(side) == wanted for side in sides) else None
    return None


def standardizations(code: Code) -> Iterator[tuple[ast.BinOp, ast.expr, ast.Call]]:
    """Yields (x - x.mean(...)) / x.std(...), each with x and the call of std().

    The mean and the deviation may be names, and a number may be added to the deviation.
    """
    for node in code.all(ast.BinOp):
        if not isinstance(node.op, ast.Div) or not isinstance(node.left, ast.BinOp):
            continue
        mean, std = code.value(node.left.right), code.value(node.right)
        if isinstance(std, ast.BinOp) and isinstance(std.op, ast.Add):
            std = code.value(std.left)
        if (
            isinstance(node.left.op, ast.Sub)
            and isinstance(mean, ast.Call)
            and isinstance(std, ast.Call)
            and last_name(mean.func) == "mean"
            and last_name(std.func) == "std"
        ):
            yield node, node.left.left, std
