from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, end, last_name, names, path, place, receiver, source
from ...project import definition
from ...training import expects_an_error, functions_called, is_dead
from .. import needs

WRAPPERS = ("torch.nn.DataParallel", "torch.nn.parallel.DataParallel",
            "torch.nn.parallel.DistributedDataParallel")  # fmt: skip
MOVES = ("to", "cuda", "train", "eval", "float", "half")
OWN = frozenset(  # the public attributes of Module and of the wrappers
    "module device_ids dim output_device src_device_obj training dump_patches call_super_init"
    " parameters named_parameters buffers named_buffers children named_children modules"
    " named_modules train eval requires_grad_ zero_grad share_memory extra_repr forward to cuda cpu"
    " xpu ipu mtia mps type float double half bfloat16 to_empty state_dict load_state_dict apply"
    " add_module get_submodule set_submodule get_parameter get_buffer get_extra_state"
    " set_extra_state compile no_sync join replicate scatter parallel_apply gather logger reducer"
    " will_sync_module_buffers process_group find_unused_parameters broadcast_buffers device"
    " static_graph device_type is_multi_device_module gradient_as_bucket_view join_hook"
    " require_backward_grad_sync require_forward_param_sync".split()
)
ASKS = ("module", "parallel", "distributed", "gpu", "ddp", "rank", "world", "hasattr", "multi")


@needs("Parallel(|def __init__")
def attribute_of_a_wrapped_model(code: Code) -> Iterator[Hit]:
    found = set()
    for target, kind in _wrapped(code):
        for use in _uses(code, target):
            if use in found or use.attr in OWN or use.attr.startswith(("_", "register_")):
                continue
            if is_dead(code, use) or _is_set(code, use):
                continue
            if _is_guarded(code, use) or expects_an_error(code, use):
                continue
            found.add(use)
            yield Hit(
                use,
                f"{source(use.value, 40)} is a {kind} here, which has no attribute "
                f"{use.attr}; the model itself is {source(use.value, 40)}.module",
            )


def _wrapped(code: Code) -> Iterator[tuple[ast.expr, str]]:
    """Yields (name, wrapper) of each assignment of a wrapped model."""
    for node in code.all(ast.Assign):
        target, value = node.targets[0], node.value
        if len(node.targets) > 1:
            continue
        if isinstance(target, ast.Tuple):
            for at, part in enumerate(target.elts):
                kind = _returned(code, value, at)
                if kind and path(part).startswith("self."):
                    yield part, kind
        else:
            kind = _wrapper(code, value) or _returned(code, value, -1)
            if kind and path(target):
                yield target, kind


def _wrapper(code: Code, node: ast.AST | None) -> str:
    """The wrapper that the node creates, such as "DataParallel", or ""."""
    while isinstance(node, ast.Call) and last_name(node.func) in MOVES:
        node = receiver(node)
    is_one = isinstance(node, ast.Call) and code.full(node.func) in WRAPPERS
    return last_name(node.func) if is_one else ""  # type: ignore[union-attr]


def _returned(code: Code, call: ast.AST, position: int) -> str:
    """The wrapper of the model that a function returns at this position (-1 for the whole)."""
    if not isinstance(call, ast.Call) or not any(
        "model" in word.lower() for value in [call.func, *call.args] for word in names(value)
    ):
        return ""
    made = definition(code, call.func)
    if made is None or not isinstance(made.node, ast.FunctionDef):
        return ""
    for statement in made.code.within(made.node, ast.Return):
        value = statement.value
        if position >= 0:
            several = value.elts if isinstance(value, ast.Tuple) else []
            value = several[position] if position < len(several) else None
        while isinstance(value, ast.Call) and last_name(value.func) in MOVES:
            value = receiver(value)
        for each in made.code.values(value) if value is not None and path(value) else [value]:
            if kind := _wrapper(made.code, each):
                return kind
    return ""


def _uses(code: Code, target: ast.expr) -> Iterator[ast.Attribute]:
    """Yields the attributes of the name in the same function, until it is assigned again.

    For self.model, the attributes in the other methods of the class follow.
    """
    name, function = path(target), code.function(target)
    start = end(code.statement(target))
    owner = code.owner(target) if name.startswith("self.") else None
    stores = [
        part
        for part in code.within(function, (ast.Name, ast.Attribute))
        if path(part) == name and isinstance(part.ctx, ast.Store) and place(part) > start
    ]
    until = min(map(place, stores), default=(10**9, 0))
    for use in code.within(function, ast.Attribute):
        if (
            path(use.value) == name
            and isinstance(use.ctx, ast.Load)
            and start < place(use) < until
            and not code.excludes(use, target)
        ):
            yield use
    if owner is None or not _runs_at_first(code, function, owner):
        return
    if any("module" in names(code.statement(part)) for part in stores):
        return
    for use in code.all(ast.Attribute):
        method = code.function(use)
        if (
            path(use.value) == name
            and isinstance(use.ctx, ast.Load)
            and code.owner(use) is owner
            and method is not function
            and getattr(method, "name", "") != "__init__"
            and not _is_assigned(code, method, name)
        ):
            yield use


def _runs_at_first(code: Code, method: ast.AST, owner: ast.ClassDef) -> bool:
    """True for __init__(), and for a method that it calls."""
    makers = [part for part in owner.body if getattr(part, "name", "") == "__init__"]
    return method in makers or any(method in functions_called(code, maker) for maker in makers)


def _is_assigned(code: Code, method: ast.AST, name: str) -> bool:
    return any(
        path(part) == name and isinstance(part.ctx, ast.Store)
        for part in code.within(method, ast.Attribute)
    )


def _is_guarded(code: Code, use: ast.Attribute) -> bool:
    """True if a condition around the attribute may check for the wrapper."""
    return any(
        any(ask in word.lower() for ask in ASKS for word in names(above.test))
        for above in code.ancestors(use)
        if isinstance(above, (ast.If, ast.IfExp))
    )


def _is_set(code: Code, use: ast.Attribute) -> bool:
    """True if the code gives the wrapper this attribute."""
    return any(
        path(other) == path(use) and isinstance(other.ctx, ast.Store)
        for other in code.all(ast.Attribute)
        if other.attr == use.attr
    )
