"""Recognizes tensors that a module creates itself, and code that moves them to a device."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from .code import Code, argument, constant, is_none, last_name, path, receiver, remembered
from .project import around

CONSTANTS = frozenset(
    "zeros ones full arange linspace eye tensor from_numpy FloatTensor LongTensor Tensor tril"
    " triu".split()
)
RANDOM = frozenset("randn rand randint randperm normal empty".split())
MOVES = frozenset("to cuda type_as new_tensor npu xpu".split())
PLAIN = frozenset("size item tolist numpy dim numel cpu shape device dtype ndim".split())


def factory(code: Code, node: ast.AST | None, of: frozenset[str]) -> ast.Call | None:
    """The call of torch that creates a tensor of one or more dimensions on the default device."""
    call = node
    while isinstance(call, ast.Call) and not code.torch(call.func):
        if last_name(call.func) in MOVES or any(k.arg == "device" for k in call.keywords):
            return None
        call = receiver(call)
    if not isinstance(call, ast.Call) or code.torch(call.func) not in of:
        return None
    if not code.full(call.func).startswith("torch."):
        return None
    if argument(call, -1, "device") is not None or any(k.arg is None for k in call.keywords):
        return None
    if code.torch(call.func) in ("tril", "triu"):
        return factory(code, argument(call, 0, "input"), of)
    if code.torch(call.func) in ("tensor", "Tensor", "FloatTensor"):
        values = argument(call, 0, "data")
        return call if isinstance(values, ast.List) and len(values.elts) > 1 else None
    shape = call.args[0] if call.args else None
    return None if isinstance(shape, ast.List) and not shape.elts else call


def kept_tensors(
    code: Code, owner: ast.ClassDef, of: frozenset[str]
) -> Iterator[tuple[ast.Assign, str]]:
    """Yields (assignment, name) of the tensors that __init__() keeps as plain attributes.

    Excludes attributes that the class assigns again, registers or moves.
    """
    methods = {part.name: part for part in owner.body if isinstance(part, ast.FunctionDef)}
    created = [
        (node, path(node.targets[0]))
        for node in (code.within(methods["__init__"], ast.Assign) if "__init__" in methods else ())
        if factory(code, node.value, of) is not None and len(node.targets) == 1
    ]
    if not created or methods.keys() & {"to", "_apply", "cuda", "setup"}:
        return
    assigned = Counter(
        path(target)
        for node in ast.walk(owner)
        if isinstance(node, ast.Assign) and not is_none(node.value)
        for target in node.targets
    )
    texts = {constant(part) for part in ast.walk(owner) if isinstance(part, ast.Constant)}
    for node, name in created:
        owner_name, _, attribute = name.partition(".")
        is_kept = owner_name == "self" and "." not in attribute and assigned[name] == 1
        if is_kept and attribute not in texts:
            yield node, name


def uses(code: Code, owner: ast.ClassDef, name: str) -> Iterator[ast.Attribute]:
    """Yields the reads of an attribute in the methods other than __init__()."""
    for function in owner.body:
        if isinstance(function, ast.FunctionDef) and function.name != "__init__":
            for part in code.within(function, ast.Attribute):
                if path(part) == name and isinstance(part.ctx, ast.Load):
                    yield part


def is_moved(code: Code, use: ast.AST) -> bool:
    """True for x.to(device) and similar calls, and for reads that do not use the values."""
    above = code.parent[use]
    if isinstance(above, ast.Attribute):
        return above.attr in MOVES | PLAIN
    if isinstance(above, ast.Subscript):
        return above.slice is use or is_moved(code, above)
    if isinstance(above, ast.Call):
        return last_name(above.func) in ("len", "print", "isinstance", "range", "enumerate")
    return isinstance(above, ast.Tuple) and isinstance(code.parent[above], ast.Subscript)


def is_mixed(code: Code, use: ast.expr) -> bool:
    """True if an operator or a function combines the tensor with another value of the method."""
    kept, own = path(use), code.parent[use]
    operand = own if isinstance(own, ast.Subscript) else use
    above = code.parent[operand]
    if isinstance(above, ast.BinOp):
        others = [above.right if above.left is operand else above.left]
    elif isinstance(above, ast.Call):
        others = [value for value in above.args if value is not operand]
    else:
        return False
    return any(
        isinstance(part, ast.Name)
        and part.id != "self"
        and not any(path(inner) == kept for inner in ast.walk(code.value(part) or part))
        for other in others
        for part in ast.walk(other)
    )


@remembered
def has_a_device(code: Code) -> bool:
    """True if the program moves its modules to a device, other than the default device."""
    files = list(around(code, ".to(", ".cuda(", "set_default"))
    if any(
        word in file.text
        for file in files
        for word in ("set_default_device", "default_tensor_type")
    ):
        return False
    return any(
        "cuda" in file.text
        and isinstance(call.func, ast.Attribute)
        and (call.args or last_name(call.func) == "cuda")
        and not any("float" in str(path(value)) for value in call.args)
        for file in files
        for name in ("to", "cuda")
        for call in file.calls.get(name, ())
    )
