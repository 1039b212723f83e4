from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, receiver, source
from ...training import backwards, is_scaler, rest_of_the_block
from .. import needs
from .shared import is_scaled


@needs("scaler|Scaler", "backward", "unscale_")
def backward_after_unscale(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("unscale_", ()):
        others = code.calls_in(code.function(call), "unscale_")
        if len({ast.dump(other) for other in others}) > 1:
            continue  # each optimizer has its own gradients
        for later in rest_of_the_block(code, call):
            if any(
                is_scaler(code, receiver(step)) for step in code.calls_in(later, "step", "update")
            ):
                break
            for backward in backwards(code, later):
                if is_scaled(code, backward):
                    yield Hit(
                        backward,
                        "this backward() adds scaled gradients to the gradients that "
                        f"{source(call, 40)} has already unscaled",
                    )
