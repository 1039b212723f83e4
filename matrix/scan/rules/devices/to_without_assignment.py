from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, inserted, last_name, path, place, receiver, source
from ...training import is_fragment, is_loader, is_network
from .. import needs

MOVES = ("to", "cuda", "cpu")
CREATORS = frozenset(
    "tensor as_tensor from_numpy zeros ones empty full eye arange linspace rand randn randint"
    " randperm zeros_like ones_like rand_like randn_like cat stack".split()
)
USUAL = ("x", "y", "inputs", "images", "labels", "targets")  # names of tensors in a fragment
NUMBERS = ("i", "j", "n", "it", "idx", "index", "step", "iteration", "batch_idx", "batch_i", "_")


CONVERSIONS = ("float", "half", "double", "long", "int", "bool")
OF_A_TENSOR = frozenset(
    "shape size dim ndim view reshape permute transpose unsqueeze squeeze mean sum dtype T".split()
)


@needs(".to(|.cuda(|.cpu(|.float(|.half(|.double(|.long(")
def to_without_assignment(code: Code) -> Iterator[Hit]:
    for call in (call for name in MOVES + CONVERSIONS for call in code.calls.get(name, ())):
        tensor = receiver(call)
        if tensor is None or not isinstance(code.parent[call], ast.Expr):
            continue
        if last_name(call.func) in CONVERSIONS and call.args:
            continue
        if isinstance(tensor, ast.Name):
            found = _is_tensor(code, tensor) or _is_given_to_forward(code, tensor)
        else:
            found = isinstance(tensor, ast.Subscript) and _is_of_a_batch(code, tensor)
        if found:
            fate = "move" if last_name(call.func) in MOVES else "change"
            yield Hit(
                call,
                f"{source(call)} returns a copy; {source(tensor)} itself does not {fate}",
                (inserted(place(call), f"{source(tensor)} = "),),
            )


def _is_given_to_forward(code: Code, name: ast.Name) -> bool:
    """True if the name is a parameter of forward() that the method uses like a tensor."""
    function = code.function(name)
    if not isinstance(function, ast.FunctionDef) or function.name != "forward":
        return False
    if not is_network(code, code.owner(function)) or code.values(name) == []:
        return False
    if all(parameter.arg != name.id for parameter in function.args.args):
        return False
    uses = [use for use in code.within(function, ast.Name) if use.id == name.id]
    return any(
        isinstance(above := code.parent[use], ast.Attribute) and above.attr in OF_A_TENSOR
        for use in uses
    )


def _is_of_a_batch(code: Code, part: ast.Subscript) -> bool:
    """True for batch["image"] in a loop over a loader."""
    name, key = path(part.value), constant(part.slice)
    return isinstance(key, str) and any(
        isinstance(loop, ast.For)
        and is_loader(code, loop.iter)
        and any(path(target) == name for target in ast.walk(loop.target))
        for loop in code.loops(part)
        if name
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
