from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, has_unpacked, names, receiver, source
from ...training import in_a_test, is_dead
from .. import needs

INTENDED = re.compile(r"requires_grad|freez|static", re.IGNORECASE)  # in code or comments
FIXED = ("pos", "time", "sin", "fourier", "one_hot", "onehot", "eye")  # not meant to be trained


@needs(".from_pretrained(", "Embedding")
def from_pretrained_is_frozen(code: Code) -> Iterator[Hit]:
    if INTENDED.search(code.text):
        return
    for call in code.calls.get("from_pretrained", ()):
        embedding, vectors = receiver(call), argument(call, 0, "embeddings")
        if embedding is None or code.torch(embedding) not in ("Embedding", "EmbeddingBag"):
            continue
        if vectors is None or has_unpacked(call) or argument(call, 1, "freeze") is not None:
            continue
        if not _is_fixed(code, call, vectors) and not is_dead(code, call):
            yield Hit(
                call,
                f"freeze=True is the default, so training does not change {source(vectors, 30)}",
            )


def _is_fixed(code: Code, call: ast.Call, vectors: ast.expr) -> bool:
    """True for vectors such as positional encodings, and in code that does not train them."""
    function = code.function(call)
    words = names(vectors) | names(code.statement(call)) | {getattr(function, "name", "")}
    return (
        any(part in word.lower() for word in words for part in FIXED)
        or bool(code.calls_in(function, "sin", "cos", "eye", "one_hot"))
        or in_a_test(code, call)
    )
