from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, names, source
from ...training import is_fragment, is_network
from .. import needs


@needs("scaled_dot_product_attention", "dropout_p")
def sdpa_drops_out_in_eval_mode(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("scaled_dot_product_attention", ()):
        dropout = argument(call, 4, "dropout_p")
        if dropout is None or constant(dropout) in (0, 0.0):
            continue
        value = code.value(dropout) or dropout
        around = [dropout, value, *code.conditions(call)]
        if any({"training", "train", "is_training", "eval"} & names(part) for part in around):
            continue
        owner = code.owner(call)
        own = "self" in {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
        if (is_fragment(code) or (owner is not None and is_network(code, owner))) and (
            own or constant(value) is not None
        ):
            yield Hit(
                dropout,
                f"dropout_p={source(dropout, 40)} also applies in eval mode, unlike nn.Dropout",
            )
