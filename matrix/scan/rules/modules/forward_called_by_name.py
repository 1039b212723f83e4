from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, end, last_name, path, receiver, source
from ...project import around
from ...training import class_of, creating_call, in_a_test, is_fragment, is_network
from .. import needs

MODELS = ("model", "net", "network", "encoder", "decoder", "generator", "discriminator")
HOOKS = ("_hook(", "weight_norm(", "spectral_norm(", "prune.")


@needs(".forward(")
def forward_called_by_name(code: Code) -> Iterator[Hit]:
    has_hooks = is_fragment(code) or _has_hooks(code)
    for call in code.calls.get("forward", ()):
        model = receiver(call)
        if model is None or not path(model) or path(model) in ("self", "cls"):
            continue
        if last_name(model)[:1].isupper() or _passes_self(call) or in_a_test(code, call):
            continue
        if _is_of_an_autograd_function(code, call):
            continue
        if not has_hooks and not _is_a_model(code, call, model):
            continue
        if not code.is_imported(model) and path(model) != "ctx":
            line, column = end(model)
            edit = Edit(line, column, *end(call.func), "")
            yield Hit(call, f"{source(call, 40)} skips the hooks of {source(model, 40)}", (edit,))


def _is_a_model(code: Code, call: ast.Call, node: ast.expr) -> bool:
    """True for an object of a module's class, and for a usual name of a model.

    The layers that forward() calls by name do not count, because hooks of layers are rare.
    """
    if getattr(code.function(call), "name", "") == "forward":
        return False
    maker = creating_call(code, node)
    if maker is None:  # or one of several objects, such as a model and its wrapper
        made = [
            value
            for value in code.values(node)
            if isinstance(value, ast.Call) and path(receiver(value)) != path(node)
        ]
        maker = made[0] if made else None
    if maker is None:
        name = last_name(node).lower()
        imported = {origin.module.partition(".")[0] for origin in code.origins.values()}
        return "torch" in imported and (name in MODELS or name.endswith(("_model", "_net")))
    found = class_of(code, maker)
    return (
        found is not None
        and isinstance(found.node, ast.ClassDef)
        and is_network(found.code, found.node)
    )


def _has_hooks(code: Code) -> bool:
    """True if this or a nearby file registers hooks, directly or through torch."""
    return any(word in file.text for file in around(code, *HOOKS) for word in HOOKS)


def _is_of_an_autograd_function(code: Code, call: ast.Call) -> bool:
    """True in forward(ctx, ...), which calls compiled extensions rather than modules."""
    function = code.function(call)
    arguments = function.args.args if isinstance(function, ast.FunctionDef) else []
    return any(argument.arg == "ctx" for argument in arguments[:1])


def _passes_self(call: ast.Call) -> bool:
    return bool(call.args) and path(call.args[0]) == "self"  # Base.forward(self, x)
