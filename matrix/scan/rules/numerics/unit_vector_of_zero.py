from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, receiver, source
from .. import needs

RANDOM = ("rand", "randn", "rand_like", "randn_like")


@needs("norm(", "keepdim")
def unit_vector_of_zero(code: Code) -> Iterator[Hit]:
    divisions = [(node, node.op, node.left, node.right) for node in code.all(ast.BinOp)]
    divisions += [(node, node.op, node.target, node.value) for node in code.all(ast.AugAssign)]  # type: ignore[misc]
    for node, operator, vector, norm in divisions:
        if not isinstance(operator, ast.Div) or not isinstance(norm, ast.Call) or not path(vector):
            continue
        keeps = constant(argument(norm, 2 if norm.args else -1, "keepdim"))
        if keeps is not True or path(_normed(code, norm)) != path(vector):
            continue
        if not _is_made_here(code, vector):
            yield Hit(node, f"{source(norm)} is 0 for a zero vector, and 0 / 0 is NaN")


def _is_made_here(code: Code, vector: ast.expr) -> bool:
    """True for random numbers, parameters of random numbers, and literals."""
    value = code.value(vector)
    while isinstance(value, ast.Call):
        if code.method(value):  # torch.rand(8).cuda()
            value = receiver(value)
        elif code.torch(value.func) == "Parameter" and value.args:
            value = value.args[0]
        elif code.torch(value.func) in ("tensor", "Tensor"):
            rows = ast.walk(value.args[0]) if value.args else [value.func]
            return not any(isinstance(part, (ast.Name, ast.Attribute)) for part in rows)
        else:
            return code.torch(value.func) in RANDOM
    return False


def _normed(code: Code, norm: ast.Call) -> ast.expr | None:
    """The x of x.norm(...), torch.norm(x, ...) and torch.linalg.vector_norm(x, ...)."""
    if last_name(norm.func) not in ("norm", "vector_norm"):
        return None
    name = code.full(norm.func)
    if name.startswith("torch."):
        return norm.args[0] if norm.args else None
    return None if name.startswith("numpy.") else receiver(norm)
