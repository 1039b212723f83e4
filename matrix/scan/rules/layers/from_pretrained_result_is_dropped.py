from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path, receiver, source
from ...training import is_fragment
from .. import needs


@needs(".from_pretrained(", "Embedding")
def from_pretrained_result_is_dropped(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("from_pretrained", ()):
        embedding = receiver(call)
        if embedding is None or not isinstance(code.parent[call], ast.Expr):
            continue
        if _is_an_embedding(code, embedding):
            yield Hit(
                call,
                f"from_pretrained() returns a new Embedding, and {source(embedding, 40)} keeps its "
                "random vectors",
            )


def _is_an_embedding(code: Code, node: ast.expr) -> bool:
    values = code.values(node) if path(node) else []
    return any(code.made_by(value, "Embedding", "EmbeddingBag") for value in values) or (
        not values and is_fragment(code) and "embed" in path(node)
    )
