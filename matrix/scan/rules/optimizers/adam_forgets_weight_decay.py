from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, argument, constant
from .. import needs

SKIPPED = ("amsgrad", "decoupled_weight_decay")


@needs("Adam(", "weight_decay")
def adam_forgets_weight_decay(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("Adam", ()):
        decay = constant(argument(call, 4, "weight_decay"))
        if not code.full(call.func).startswith("torch.optim.") and code.torch(call.func) != "Adam":
            continue
        if isinstance(decay, float) and decay > 0 and argument(call, -1, SKIPPED[1]) is None:
            yield Hit(
                call,
                f"Adam divides the weight decay of {decay:g} by the size of the gradient, as "
                "AdamW does not",
            )
