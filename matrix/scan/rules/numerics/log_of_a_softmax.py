from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, source
from ...training import without_grad
from .. import needs
from .shared import can_be_0, is_cared_for, is_times, logs

DECODERS = ("decode", "beam", "generate", "predict", "infer", "evaluat", "translate")


@needs("oftmax", "log(")
def log_of_a_softmax(code: Code) -> Iterator[Hit]:
    for call, inner in logs(code):
        if not can_be_0(code, inner) or without_grad(code, call) or is_cared_for(code, call):
            continue
        if is_times(code, call, inner) or _leaves_the_graph(code, call) or _decodes(code, call):
            continue
        yield Hit(
            call, f"{source(call)} is -inf, with a nan gradient, where the softmax underflows to 0"
        )


def _decodes(code: Code, call: ast.Call) -> bool:
    """True if the function's name suggests decoding, for which a score of -inf is valid."""
    name = getattr(code.function(call), "name", "").lower()
    return any(word in name for word in DECODERS)


def _leaves_the_graph(code: Code, call: ast.Call) -> bool:
    """True if the logarithm is detached from the graph, for example by .item() or .detach()."""
    return any(
        isinstance(above, ast.Attribute)
        and above.attr in ("item", "detach", "numpy", "tolist", "cpu")
        for above in code.ancestors(call)
    )
