from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, names, receiver, source
from ...training import creating_call, is_dead, is_fragment
from .. import needs


@needs("view(|reshape(", "head")
def heads_are_split_without_a_transpose(code: Code) -> Iterator[Hit]:
    for call in (call for name in ("view", "reshape") for call in code.calls.get(name, ())):
        projected = receiver(call)
        if projected is None or not _puts_heads_before_tokens(call):
            continue
        if _is_projected(code, projected) and not is_dead(code, call):
            yield Hit(
                call,
                f"each head of {source(call, 50)} gets some of the tokens with all their features",
            )


def _puts_heads_before_tokens(call: ast.Call) -> bool:
    """True for view(batch, heads, tokens, -1) and view(batch * heads, tokens, -1)."""
    shape = call.args
    if len(shape) == 1 and isinstance(shape[0], (ast.Tuple, ast.List)):
        shape = shape[0].elts
    if len(shape) == 4:
        return _is_heads(shape[1]) and _is_tokens(shape[2])
    first = shape[0] if len(shape) == 3 else None
    if not isinstance(first, ast.BinOp) or not isinstance(first.op, ast.Mult):
        return False
    is_batch = any(
        word.lower() in ("b", "bs", "bsz", "size", "shape") or "batch" in word.lower()
        for word in names(first.left)
    )
    return is_batch and _is_heads(first.right) and _is_tokens(shape[1])


def _is_heads(node: ast.expr) -> bool:
    name = last_name(node).lower()
    return "head" in name and not any(word in name for word in ("dim", "size", "width"))


def _is_tokens(node: ast.expr) -> bool:
    """True for -1, and for a number of tokens that the method reads from a shape."""
    if constant(node) == -1 or isinstance(node, (ast.Call, ast.Subscript)):
        return True
    name = last_name(node).lower()
    return isinstance(node, ast.Name) and not any(w in name for w in ("dim", "size", "d_", "feat"))


def _is_projected(code: Code, node: ast.expr) -> bool:
    """True for the output of a Linear, whose last dimension contains the heads."""
    value = code.value(node)
    if value is None and isinstance(node, ast.Name):
        return is_fragment(code)
    if not isinstance(value, ast.Call):
        return False
    maker = creating_call(code, value.func)
    return maker is not None and code.torch(maker.func) == "Linear"
