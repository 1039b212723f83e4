from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, end, inserted, path, place, source
from ...training import OPTIMIZERS, is_fragment
from .. import needs


@needs("optim|SGD|Adam")
def parameter_outside_a_list(code: Code) -> Iterator[Hit]:
    for name in OPTIMIZERS:
        for call in code.calls.get(name, ()):
            params = argument(call, 0, "params")
            if params is None or code.torch(call.func) != name or not _is_one(code, params):
                continue
            yield Hit(
                params,
                f"{source(params)} is a single parameter, but {name} takes a list of parameters",
                (inserted(place(params), "["), inserted(end(params), "]")),
            )


def _is_one(code: Code, params: ast.expr) -> bool:
    """True for a Parameter, a tensor that requires a gradient, and the weight of a layer."""
    if isinstance(params, ast.Attribute) and params.attr in ("weight", "bias"):
        return True
    value = code.value(params)
    if not isinstance(value, ast.Call):
        return is_fragment(code) and path(params) == "prompt"
    grad = argument(value, -1, "requires_grad")
    made = code.torch(value.func)
    return made == "Parameter" or (
        made in ("tensor", "zeros", "ones", "randn", "rand") and getattr(grad, "value", 0) is True
    )
