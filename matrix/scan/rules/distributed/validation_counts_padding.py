from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, source
from ...training import in_a_test, is_dead, is_fragment
from .. import needs

EVALUATION = re.compile(r"(^|_)(val|valid|validation|eval|evaluation|test|dev)(\d|_|$|set|data)")
# Code that removes the repeated samples again, as COCO's metrics do by image number
TRIMS = re.compile(
    r"gather_for_metrics|Unrepeated|CocoEval|coco_(api|eval)|\[\s*:\s*(len\(|num_|n_|total|size)"
)


@needs("DistributedSampler", "DataLoader")
def validation_counts_padding(code: Code) -> Iterator[Hit]:
    if TRIMS.search(code.text):
        return
    for call in code.calls.get("DistributedSampler", ()):
        dataset = argument(call, 0, "dataset")
        if (
            dataset is not None
            and code.torch(call.func)
            and _evaluates(code, call, dataset)
            and not _drops(call)
            and not isinstance(code.parent[call], ast.IfExp)
            and not in_a_test(code, call)
            and not is_dead(code, call)
        ):
            yield Hit(
                call,
                f"the sampler repeats samples of {source(dataset)} to give each rank the same "
                "number, so metrics count these samples twice",
            )


def _evaluates(code: Code, sampler: ast.Call, dataset: ast.expr) -> bool:
    """True if the name of the dataset or of the sampler suggests evaluation, not training."""
    if is_fragment(code):
        return constant(argument(sampler, 3, "shuffle")) is False
    names = [last_name(dataset)]
    statement = code.statement(sampler)
    if isinstance(statement, ast.Assign):
        names += [path(target).rpartition(".")[2] for target in statement.targets]
    names = [name.lower() for name in names]
    return any(EVALUATION.search(name) for name in names) and not any(
        "train" in name for name in names
    )


def _drops(sampler: ast.Call) -> bool:
    drop = argument(sampler, 5, "drop_last")
    return drop is not None and constant(drop) is not False
