from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, end, last_name, path, place, source
from ...created import CONSTANTS, MOVES, PLAIN, RANDOM, factory, has_a_device
from ...training import creating_call, is_dead, is_fragment, is_network
from .. import needs

JOINS = ("cat", "stack", "concat", "matmul", "bmm", "where", "add", "mul")


@needs("torch.", "forward|self.")
def tensor_made_in_forward(code: Code) -> Iterator[Hit]:
    fragment = is_fragment(code)
    for node in code.all(ast.Assign):
        name = path(node.targets[0])
        call = factory(code, node.value, CONSTANTS | RANDOM)
        if call is None or not name or "." in name or len(node.targets) > 1:
            continue
        function, owner = code.function(node), code.owner(node)
        if not fragment and getattr(function, "name", "") != "forward":
            continue
        if not fragment and (not is_network(code, owner) or is_dead(code, node)):
            continue
        if _meets_others(code, node, name) and (fragment or has_a_device(code)):
            yield Hit(node, f"{source(call, 40)} is on the CPU, even if the model is on a GPU")


def _meets_others(code: Code, node: ast.Assign, name: str) -> bool:
    """True if the code computes with the tensor, and never moves it.

    Only the reads before the next assignment to the name read this tensor.
    """
    later = [
        part
        for part in code.within(code.function(node), ast.Name)
        if part.id == name and place(part) > end(node)
    ]
    until = min(
        (
            end(code.statement(part))
            for part in later
            if isinstance(part.ctx, ast.Store) and not isinstance(code.parent[part], ast.AugAssign)
        ),
        default=(10**9, 0),
    )
    uses = [part for part in later if place(part) < until]
    if any(
        isinstance(above := code.parent[part], ast.Attribute) and above.attr in MOVES | PLAIN
        for part in uses
    ):
        return False
    return any(_computes(code, part) for part in uses)


def _computes(code: Code, part: ast.Name) -> bool:
    above = code.parent[part]
    if isinstance(above, ast.AugAssign):
        return True
    if isinstance(above, ast.BinOp):
        if any(isinstance(outer, ast.Subscript) for outer in code.ancestors(above)):
            return False  # an index may be on the CPU
        other = above.right if above.left is part else above.left
        return not isinstance(other, ast.Constant)
    if isinstance(above, (ast.List, ast.Tuple)):
        above = code.parent[above]
    if not isinstance(above, ast.Call):
        return False
    if path(above.func).startswith("self."):  # a layer of torch, which moves nothing
        layer = creating_call(code, above.func)
        return is_fragment(code) or (layer is not None and bool(code.torch(layer.func)))
    return last_name(above.func) in JOINS
