from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, source
from .. import needs


@needs("RNN(")
def positional_nonlinearity_becomes_bias(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("RNN", ()):
        if code.torch(call.func) and constant(code.value(argument(call, 3))) in ("relu", "tanh"):
            yield Hit(call, f"the fourth positional argument of {source(call)} is `bias`")
