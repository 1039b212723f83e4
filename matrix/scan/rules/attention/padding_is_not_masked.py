from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, has_unpacked
from ...sequences import is_padded, knows_lengths, runs
from ...training import is_dead
from .. import needs

LAYERS = ("MultiheadAttention", "TransformerEncoderLayer")


@needs("pad_sequence|padding_idx", "ncoder|ttention|attn")
def padding_is_not_masked(code: Code) -> Iterator[Hit]:
    for run in runs(code, LAYERS):
        call = run.call
        if has_unpacked(call) or any("mask" in (word.arg or "") for word in call.keywords):
            continue
        if not is_padded(code, call) or knows_lengths(code, call) or is_dead(code, call):
            continue
        yield Hit(call, f"{run.layer}() attends to the padding as well, because it gets no mask")
