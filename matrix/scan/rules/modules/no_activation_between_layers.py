from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, path, source
from ...training import certain, is_dead, is_network
from .. import needs

LINEAR = (
    "low", "lora", "rank", "down", "up", "bottleneck", "factor", "latent", "reduce", "adapter",
    "expand", "compress",
)  # fmt: skip
KEEP = ("Dropout", "Identity", "Flatten")


@needs("Linear")
def no_activation_between_layers(code: Code) -> Iterator[Hit]:
    yield from _in_forward(code)
    for call in code.calls.get("Sequential", ()):
        if code.torch(call.func) != "Sequential":
            continue
        for first, second in zip(call.args, call.args[1:], strict=False):
            if _is_linear(code, first) and _is_linear(code, second) and _is_wide(first, second):
                yield Hit(
                    second,
                    f"{source(second, 40)} follows {source(first, 40)} without an activation, so "
                    "together they compute a single linear function",
                )


def _in_forward(code: Code) -> Iterator[Hit]:
    """Yields self.second(self.first(x)), where both layers are Linear."""
    for call in code.all(ast.Call):
        if not path(call.func).startswith("self.") or len(call.args) != 1:
            continue
        function, second = code.function(call), code.value(call.func)
        if getattr(function, "name", "") != "forward" or not isinstance(second, ast.Call):
            continue
        if not _is_linear(code, second) or not is_network(code, code.owner(call)):
            continue
        inner = _without_dropout(code, call.args[0])
        if inner is None or not path(inner.func).startswith("self."):
            continue
        first = code.value(inner.func)
        if not isinstance(first, ast.Call) or not _is_linear(code, first) or inner is call:
            continue
        if not _is_wide(first, second) or _is_narrow_on_purpose(code, call, inner):
            continue
        if not is_dead(code, call):
            yield Hit(
                call,
                f"{source(call.func, 40)} follows {source(inner.func, 40)} without an activation, "
                "so together they compute a single linear function",
            )


def _without_dropout(code: Code, node: ast.expr) -> ast.Call | None:
    """The call that computed the node, before any dropout."""
    for _ in range(4):
        value = code.value(node)
        if not isinstance(value, ast.Call) or not certain(code, value, node):
            return None
        maker = code.value(value.func) if path(value.func) else None
        is_layer = isinstance(maker, ast.Call) and code.torch(maker.func) in KEEP
        if not value.args or not (is_layer or code.torch(value.func) == "dropout"):
            return value
        node = value.args[0]
    return None


def _is_narrow_on_purpose(code: Code, call: ast.Call, inner: ast.Call) -> bool:
    """True if the names suggest a bottleneck, or if forward() also uses the inner output."""
    words = f"{source(call)} {source(inner.func)}".lower()
    if any(word in words for word in LINEAR):
        return True
    statement = code.statement(inner)
    name = path(statement.targets[0]) if isinstance(statement, ast.Assign) else ""
    return any(
        isinstance(part, ast.Name)
        and part.id == name
        and isinstance(part.ctx, ast.Load)
        and code.value(part) is inner
        and not _is_given_to_a_layer(code, part)
        for part in code.within(code.function(call), ast.Name)
    )


def _is_given_to_a_layer(code: Code, name: ast.Name) -> bool:
    """True for self.head(name) and self.drop(name)."""
    above = code.parent[name]
    return isinstance(above, ast.Call) and path(above.func).startswith("self.")


def _is_linear(code: Code, layer: ast.expr) -> bool:
    return isinstance(layer, ast.Call) and code.torch(layer.func) == "Linear"


def _is_wide(first: ast.expr, second: ast.expr) -> bool:
    """False for a bottleneck, which has fewer features between the layers than at both ends."""
    sizes = [
        constant(argument(layer, at, name))
        for layer in (first, second)
        if isinstance(layer, ast.Call)
        for at, name in enumerate(("in_features", "out_features"))
    ]
    known = [size for size in sizes if isinstance(size, int)]
    return len(known) < len(sizes) or known[1] >= min(known[0], known[-1])
