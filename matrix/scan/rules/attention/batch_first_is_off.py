from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit
from ...sequences import ATTENTION, batch_first_is_missing
from .. import needs


@needs("MultiheadAttention(|TransformerEncoderLayer(|TransformerDecoderLayer(")
def batch_first_is_off(code: Code) -> Iterator[Hit]:
    yield from batch_first_is_missing(code, ATTENTION, "tokens", "one token")
