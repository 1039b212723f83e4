from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, argument, constant
from .. import needs


@needs("Adam(", "weight_decay")
def adam_forgets_weight_decay(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("Adam", ()):
        decay = constant(argument(call, 4, "weight_decay"))
        is_decoupled = argument(call, -1, "decoupled_weight_decay") is not None
        if code.torch(call.func) != "Adam" or is_decoupled:
            continue
        if isinstance(decay, float) and decay > 0:
            yield Hit(
                call,
                f"unlike AdamW, Adam divides the weight decay of {decay:g} by the magnitude of "
                "the gradient",
            )
