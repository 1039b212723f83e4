from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, source
from .. import needs


@needs("Sequential(")
def no_activation_between_layers(code: Code) -> Iterator[Hit]:
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
