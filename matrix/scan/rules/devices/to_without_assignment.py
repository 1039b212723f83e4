from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, inserted, place, receiver, source
from ...training import is_fragment, is_loader
from .. import needs

MOVES = ("to", "cuda", "cpu")
CREATORS = frozenset(
    "tensor as_tensor from_numpy zeros ones empty full eye arange linspace rand randn randint"
    " randperm zeros_like ones_like rand_like randn_like cat stack".split()
)
USUAL = ("x", "y", "inputs", "images", "labels", "targets")  # names of tensors in a fragment
NUMBERS = ("i", "j", "n", "it", "idx", "index", "step", "iteration", "batch_idx", "batch_i", "_")


@needs(".to(|.cuda(|.cpu(")
def to_without_assignment(code: Code) -> Iterator[Hit]:
    for call in (call for name in MOVES for call in code.calls.get(name, ())):
        tensor = receiver(call)
        if not isinstance(code.parent[call], ast.Expr) or not isinstance(tensor, ast.Name):
            continue
        if _is_tensor(code, tensor):
            yield Hit(
                call,
                f"{source(call)} returns a copy; {tensor.id} itself does not move",
                (inserted(place(call), f"{tensor.id} = "),),
            )


def _is_tensor(code: Code, name: ast.Name) -> bool:
    value = code.value(name)
    if value is not None:
        return isinstance(value, ast.Call) and code.torch(value.func) in CREATORS
    if code.values(name) == [] and is_fragment(code):
        return name.id in USUAL
    return any(
        isinstance(loop, ast.For) and is_loader(code, loop.iter) and _unpacks(loop.target, name.id)
        for loop in code.loops(name)
    )


def _unpacks(target: ast.AST, name: str) -> bool:
    """True if the loop unpacks a batch into tensors, one of which has this name.

    A batch that is not unpacked may be an object whose to() works in place.
    """
    if not isinstance(target, (ast.Tuple, ast.List)):
        return False
    inner = [part for part in target.elts if isinstance(part, (ast.Tuple, ast.List))]
    if inner:
        return any(_unpacks(part, name) for part in inner)
    number_and_batch = len(target.elts) == 2 and getattr(target.elts[0], "id", "") in NUMBERS
    return not number_and_batch and any(getattr(part, "id", "") == name for part in target.elts)
