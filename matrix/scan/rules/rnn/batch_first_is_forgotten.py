from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit
from ...sequences import RECURRENT, batch_first_is_missing
from .. import needs


@needs("LSTM(|GRU(|RNN(")
def batch_first_is_forgotten(code: Code) -> Iterator[Hit]:
    yield from batch_first_is_missing(code, RECURRENT, "time", "the last step", index=-1)
