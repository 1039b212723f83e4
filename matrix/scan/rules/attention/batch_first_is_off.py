from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, source
from ...sequences import (
    ATTENTION,
    Run,
    batch_comes_first,
    is_batch_first,
    mean_over,
    reads,
    runs,
    step_of,
)
from ...training import is_dead
from .. import needs


@needs("MultiheadAttention(|TransformerEncoderLayer(|TransformerDecoderLayer(")
def batch_first_is_off(code: Code) -> Iterator[Hit]:
    found = set()
    for run in runs(code, ATTENTION):
        maker = run.maker
        if maker is None or is_batch_first(code, maker) is not False or maker in found:
            continue
        evidence = _evidence(code, run)
        if evidence and not is_dead(code, run.call):
            found.add(maker)
            yield Hit(maker, f"{run.layer}() takes [tokens, batch, ...] by default, but {evidence}")


def _evidence(code: Code, run: Run) -> str:
    """The code that assumes that the batch is the first dimension."""
    for name in reads(code, run, run.output) if run.output else ():
        step = step_of(code, name)
        if step is not None and step[1] == 1:
            return f"{source(step[0], 40)} takes one token of [batch, tokens, ...]"
        mean = mean_over(code, name)
        if mean is not None and mean[1] == 1:
            return f"{source(mean[0], 40)} takes the mean over the tokens of [batch, tokens, ...]"
    return batch_comes_first(code, run)
