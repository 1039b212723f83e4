from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

from ...code import Code, Hit, constant, has_unpacked, last_name, receiver, source
from ...training import expects_an_error, is_fragment
from .. import needs
from .shared import SAME_SHAPE, is_unused

# Calls whose result is contiguous.
ORDERED = (
    "contiguous", "cat", "stack", "bmm", "matmul", "zeros", "ones", "rand", "randn",
    "randint", "arange", "tensor",
)  # fmt: skip


@needs(".view(", "permute|transpose|.t()")
def view_of_a_permuted_tensor(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("view", ()):
        sizes = call.args
        if call.keywords or has_unpacked(call):
            continue
        if len(sizes) == 1 and isinstance(sizes[0], (ast.Tuple, ast.List)):
            sizes = sizes[0].elts
        elif len(sizes) == 1 and constant(sizes[0]) != -1:
            continue  # a shape, or a dtype
        moved = code.value(receiver(call))
        if expects_an_error(code, call) or is_unused(code, call):
            continue
        if moved is not None and 0 < len(sizes) <= _gaps(code, moved):
            yield Hit(
                call,
                f"{source(moved)} permutes the strides, so view() cannot merge its dimensions",
            )


def _gaps(code: Code, node: ast.AST) -> int:
    """The number of pairs of neighboring dimensions that are definitely not adjacent in memory.

    A view of the permuted tensor needs more than this many dimensions.
    """
    if not isinstance(node, ast.Call):
        return 0
    function = bool(code.torch(node.func)) and not code.method(node)
    arguments = node.args[1:] if function else node.args
    base = node.args[0] if function and node.args else receiver(node)
    if not is_fragment(code) and not _is_contiguous(code, base):
        return 0  # the tensor may be contiguous again
    name = last_name(node.func)
    if (
        name == "permute"
        and len(arguments) == 1
        and isinstance(arguments[0], (ast.Tuple, ast.List))
    ):
        arguments = arguments[0].elts
    axes = [axis for axis in map(constant, arguments) if isinstance(axis, int)]
    if len(axes) != len(arguments) or any(abs(axis) > 64 for axis in axes):  # torch's limit
        return 0
    if name == "permute":
        order = [axis % len(axes) for axis in axes]
    elif name in ("transpose", "swapaxes", "swapdims") and len(axes) == 2:
        low, high = sorted(axes)
        if low < 0 <= high:
            return 1
        first, number = (low, -low) if low < 0 else (0, high + 1)
        order = list(range(number))
        order[low - first], order[high - first] = order[high - first], order[low - first]
    else:
        return 0
    return sum(after != before + 1 for before, after in itertools.pairwise(order))


def _is_contiguous(code: Code, node: ast.AST | None) -> bool:
    """True if the tensor is definitely contiguous.

    An elementwise operation preserves the memory order of a permuted tensor.
    """
    value = code.value(node)
    if isinstance(value, ast.BinOp):
        if isinstance(value.op, ast.MatMult):
            return True
        return _is_contiguous(code, value.left) and isinstance(value.right, ast.Constant)
    if not isinstance(value, ast.Call):
        return False
    if last_name(value.func) in SAME_SHAPE and last_name(value.func) != "transpose":
        inner = value.args[0] if code.torch(value.func) and value.args else receiver(value)
        if last_name(value.func) != "contiguous":
            return _is_contiguous(code, inner)
    return last_name(value.func) in ORDERED or code.made_by(value.func, "Linear", "Embedding")
