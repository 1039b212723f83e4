from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, has_unpacked, last_name, receiver, source
from .. import needs
from .shared import SAME_SHAPE


@needs("oftmax")
def softmax_without_dim(code: Code) -> Iterator[Hit]:
    for name, layer in (
        ("softmax", "Softmax"),
        ("log_softmax", "LogSoftmax"),
        ("softmin", "Softmin"),
    ):
        for call in code.all(ast.Call):
            if code.full(call.func) in (f"torch.nn.functional.{name}", name):
                dim = argument(call, 1, "dim")
                is_certain = bool(code.torch(call.func)) and not has_unpacked(call)
            else:
                maker = code.value(call.func)
                if not isinstance(maker, ast.Call) or code.torch(maker.func) != layer:
                    continue
                dim, is_certain = argument(maker, 0, "dim"), not has_unpacked(maker)
            if is_certain and dim is None and call.args and _dimensions(code, call.args[0]) == 3:
                yield Hit(
                    call,
                    f"{source(call.args[0], 40)} has 3 dimensions, so without dim=, "
                    f"{source(call, 40)} normalizes over the first dimension",
                )


def _dimensions(code: Code, node: ast.AST | None) -> int | None:
    """The number of dimensions, or None if it is uncertain."""
    for _ in range(9):
        node = code.value(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mult, ast.Div)):
            node = node.left  # scores / sqrt(d)
        elif isinstance(node, ast.Call) and last_name(node.func) in SAME_SHAPE:
            node = node.args[0] if code.torch(node.func) and node.args else receiver(node)
        else:
            break
    if not isinstance(node, ast.Call):
        return None
    name, arguments = last_name(node.func), node.args
    if name in ("bmm", "baddbmm"):
        return 3
    if name in ("view", "reshape", "permute") and not code.torch(node.func):
        if len(arguments) == 1 and isinstance(arguments[0], (ast.Tuple, ast.List)):
            arguments = arguments[0].elts
        elif len(arguments) == 1 and constant(arguments[0]) != -1:
            return None
        return None if has_unpacked(node) else len(arguments)
    if name == "einsum" and arguments and isinstance(equation := constant(arguments[0]), str):
        output = equation.rpartition("->")[2].strip()
        return len(output) if "->" in equation and output.isalpha() else None
    return None
