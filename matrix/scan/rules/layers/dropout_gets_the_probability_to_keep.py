from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, source
from ...training import default_value, is_dead, is_fragment
from .. import needs

# layer or function -> the position of the probability
DROPOUTS = {
    "Dropout": 0, "Dropout1d": 0, "Dropout2d": 0, "Dropout3d": 0, "AlphaDropout": 0,
    "FeatureAlphaDropout": 0, "dropout": 1, "dropout1d": 1, "dropout2d": 1, "dropout3d": 1,
    "alpha_dropout": 1, "feature_alpha_dropout": 1,
}  # fmt: skip


@needs("keep", "ropout")
def dropout_gets_the_probability_to_keep(code: Code) -> Iterator[Hit]:
    for name, position in DROPOUTS.items():
        for call in code.calls.get(name, ()):
            probability = argument(call, position, "p")
            if probability is None or not code.torch(call.func) or is_dead(code, call):
                continue
            if _is_to_keep(code, probability):
                yield Hit(
                    call,
                    f"{source(call, 40)} drops each value with probability "
                    f"{source(probability, 30)}",
                )


def _is_to_keep(code: Code, node: ast.expr) -> bool:
    """True for keep_prob if its value is more than one half."""
    if not last_name(node).lower().startswith(("keep_p", "keep_r", "dropout_keep")):
        return False
    number = constant(code.value(node)) or constant(default_value(code, node))
    if isinstance(number, (int, float)):
        return number > 0.5
    return is_fragment(code)
