from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, source
from ...sequences import (
    RECURRENT,
    Run,
    is_batch_first,
    is_padded,
    knows_lengths,
    reads,
    runs,
    step_of,
)
from ...training import is_dead
from .. import needs

LEFT = re.compile(r"padding_side|padding=.pre|left_pad|pad_left|pack_padded_sequence")


@needs("pad_sequence|padding_idx", "-1]|-1,")
def last_step_is_padding(code: Code) -> Iterator[Hit]:
    if LEFT.search(code.text):
        return
    for run in runs(code, RECURRENT):
        if (
            is_dead(code, run.call)
            or not is_padded(code, run.call)
            or knows_lengths(code, run.call)
        ):
            continue
        for read in _last_steps(code, run):
            yield Hit(
                read, f"for a shorter sequence, {source(read, 40)} is the state after the padding"
            )


def _last_steps(code: Code, run: Run) -> Iterator[ast.AST]:
    """Yields output[:, -1] and h[-1]."""
    batch_first = True if run.maker is None else is_batch_first(code, run.maker)
    time = 1 if batch_first else 0
    for output, dimension in ((run.output, time), (run.state, 0)):
        if not output or (output == run.output and batch_first is None):
            continue
        for name in reads(code, run, output):
            step = step_of(code, name)
            if step is not None and step[1:] == (dimension, -1):
                yield step[0]
