from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, argument, source
from ...origins import because, made_by_a
from .. import needs


@needs("gumbel_softmax")
def gumbel_softmax_of_probabilities(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("gumbel_softmax", ()):
        scores = argument(call, 0, "logits")
        if scores is None or code.torch(call.func) != "gumbel_softmax":
            continue
        if how := made_by_a(code, scores, "softmax", "Softmax"):
            yield Hit(
                call,
                f"{source(scores)} contains probabilities{because(scores, how)}, but "
                "gumbel_softmax() needs logits",
            )
