from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, end, source
from .. import needs

LOSSES = frozenset(
    "CrossEntropyLoss NLLLoss MSELoss L1Loss SmoothL1Loss HuberLoss BCELoss BCEWithLogitsLoss"
    " KLDivLoss".split()
)


@needs("Loss(")
def loss_class_gets_the_outputs(code: Code) -> Iterator[Hit]:
    for name in LOSSES:
        for call in code.calls.get(name, ()):
            if code.torch(call.func) != name or len(call.args) != 2 or call.keywords:
                continue
            if all(_is_a_tensor(value) for value in call.args):
                line, column = end(call.func)
                yield Hit(
                    call,
                    f"{source(call)} treats the outputs as settings; {name}() must be created "
                    "first",
                    (Edit(line, column, line, column, "()"),),
                )


def _is_a_tensor(value: ast.expr) -> bool:
    """False for a setting, such as a weight, a flag or a reduction."""
    if isinstance(value, (ast.Constant, ast.Starred, ast.Lambda)):
        return False
    words = ("weight", "reduction", "reduce", "average", "alpha", "config", "args", "ignore")
    return not any(word in source(value, 200).lower() for word in words)
