from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path
from .. import needs

GENERATORS = (
    "random.Random",
    "numpy.random.default_rng",
    "numpy.random.RandomState",
    "torch.Generator",
)
RESEEDS = ("seed", "manual_seed", "setstate", "set_state")


@needs("Random(|default_rng(|RandomState(|Generator(", "__getitem__")
def worker_generators_are_clones(code: Code) -> Iterator[Hit]:
    for owner in code.all(ast.ClassDef):
        methods = {
            method.name: method for method in owner.body if isinstance(method, ast.FunctionDef)
        }
        if not ({"__init__", "__getitem__"} <= methods.keys() and _is_dataset(owner, methods)):
            continue
        for target in code.within(methods["__init__"], ast.Attribute):
            name, values = path(target), code.values(target)
            if not isinstance(target.ctx, ast.Store) or not name.startswith("self."):
                continue
            maker = _generator(code, values[0]) if len(values) == 1 else None
            uses = [use for use in _reached(methods) if path(use) == name]
            if maker is None or not uses or any(_reseeds(code, use) for use in ast.walk(owner)):
                continue
            if _is_given_from_outside(code, owner, target.attr):
                continue
            if all(_in_a_while(code, use) for use in uses):  # other rows replace broken rows
                continue
            yield Hit(
                maker,
                f"each DataLoader worker gets an identical copy of {name}, so all of them draw the "
                "same numbers",
            )


def _is_dataset(owner: ast.AST, methods: dict[str, ast.FunctionDef]) -> bool:
    bases = [last_name(base) for base in getattr(owner, "bases", ())]
    is_dataset = any(name.endswith(("Dataset", "ImageFolder", "DatasetFolder")) for name in bases)
    return (
        is_dataset and not any("Iterable" in name for name in bases) and "__iter__" not in methods
    )


def _generator(code: Code, value: ast.expr | None) -> ast.Call | None:
    """The call that creates the generator, such as random.Random(0), `rng or default_rng()` or
    torch.Generator().manual_seed(0).
    """
    if isinstance(value, ast.IfExp):
        return _generator(code, value.body) or _generator(code, value.orelse)
    if isinstance(value, ast.BoolOp):
        return _generator(code, value.values[-1])
    if not isinstance(value, ast.Call):
        return None
    if code.full(value.func) in GENERATORS:
        return value
    inner = value.func.value if isinstance(value.func, ast.Attribute) else None
    return _generator(code, inner) if last_name(value.func) == "manual_seed" else None


def _reached(methods: dict[str, ast.FunctionDef]) -> Iterator[ast.Attribute]:
    """The attributes that __getitem__ reads, directly or through other methods."""
    seen, todo = set(), ["__getitem__"]
    while todo:
        name = todo.pop()
        if name in seen or name not in methods:
            continue
        seen.add(name)
        for part in ast.walk(methods[name]):
            if isinstance(part, ast.Attribute) and path(part.value) == "self":
                todo.append(part.attr)
                if isinstance(part.ctx, ast.Load):
                    yield part


def _reseeds(code: Code, node: ast.AST) -> bool:
    """True if the node may give each worker's copy its own numbers.

    Such a node calls a seeding method outside of __init__, or queries the current worker.
    """
    if isinstance(node, (ast.Name, ast.Attribute)) and last_name(node) == "get_worker_info":
        return True
    function = code.function(node)
    return (
        isinstance(node, ast.Call)
        and last_name(node.func) in RESEEDS
        and isinstance(function, ast.FunctionDef)
        and function.name != "__init__"
    )


def _is_given_from_outside(code: Code, owner: ast.AST, attribute: str) -> bool:
    """True if other code in the file replaces or seeds the generator, such as a worker_init_fn."""
    for use in code.all(ast.Attribute):
        if (
            isinstance(use, ast.Attribute)
            and use.attr == attribute
            and code.owner(use) is not owner
        ):
            above = code.parent[use]
            seeds = isinstance(above, ast.Attribute) and above.attr in RESEEDS
            if path(use.value) != "self" and (seeds or isinstance(use.ctx, ast.Store)):
                return True
    return False


def _in_a_while(code: Code, node: ast.AST) -> bool:
    return any(isinstance(loop, ast.While) for loop in code.loops(node))
