from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, end, last_name, names, path, place, receiver, source
from ...training import expects_an_error, is_dead
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


@needs("Parallel(")
def attribute_of_a_wrapped_model(code: Code) -> Iterator[Hit]:
    for node in code.all(ast.Assign):
        call: ast.expr | None = node.value
        while isinstance(call, ast.Call) and last_name(call.func) in MOVES:
            call = receiver(call)
        if not isinstance(call, ast.Call) or code.full(call.func) not in WRAPPERS:
            continue
        for use in _uses(code, node):
            if use.attr in OWN or use.attr.startswith(("_", "register_")) or is_dead(code, use):
                continue
            if _is_guarded(code, use) or expects_an_error(code, use) or _is_set(code, use):
                continue
            yield Hit(
                use,
                f"{source(use.value, 40)} is a {last_name(call.func)} here, which has no attribute "
                f"{use.attr}; the model itself is {source(use.value, 40)}.module",
            )


def _uses(code: Code, node: ast.Assign) -> Iterator[ast.Attribute]:
    """Yields the attributes of the name, in the same function, until it is assigned again."""
    name, function = path(node.targets[0]), code.function(node)
    if not name or len(node.targets) > 1:
        return
    stores = [
        place(part)
        for part in code.within(function, (ast.Name, ast.Attribute))
        if path(part) == name and isinstance(part.ctx, ast.Store) and place(part) > end(node)
    ]
    until = min(stores, default=(10**9, 0))
    for use in code.within(function, ast.Attribute):
        if (
            path(use.value) == name
            and isinstance(use.ctx, ast.Load)
            and end(node) < place(use) < until
            and not code.excludes(use, node)
        ):
            yield use


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
