from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, source
from ...sequences import RECURRENT, is_batch_first, reads, runs, step_of
from ...training import default_value, is_dead
from .. import needs


@needs("lstm|LSTM|GRU|RNN", "-1]|-1,")
def backward_direction_has_seen_one_step(code: Code) -> Iterator[Hit]:
    for run in runs(code, RECURRENT):
        dimension = 1  # of the time
        if run.maker is not None:
            if not _has_two_directions(code, run.maker) or is_dead(code, run.call):
                continue
            batch_first = is_batch_first(code, run.maker)
            if batch_first is None:
                continue
            dimension = 1 if batch_first else 0
        for name in reads(code, run, run.output):
            step = step_of(code, name)
            if step is not None and step[1:] == (dimension, -1):
                yield Hit(
                    step[0],
                    f"in {source(step[0], 40)}, the backward direction of {run.layer} has seen "
                    "only the last step",
                )


def _has_two_directions(code: Code, maker: ast.Call) -> bool:
    flag = argument(maker, 6, "bidirectional")
    return True in (constant(code.value(flag)), constant(default_value(code, flag)))
