from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, has_unpacked, last_name, path
from ...training import in_a_test, is_fragment
from .. import needs

ORDERED = ("val", "test", "eval", "untrained")
SUBSTITUTES = ("sampler", "batch_sampler")


@needs("DataLoader")
def not_shuffled(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("DataLoader", ()):
        statement = code.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            continue
        if has_unpacked(call) or any(argument(call, -1, name) is not None for name in SUBSTITUTES):
            continue
        shuffle, name = argument(call, 2, "shuffle"), statement.targets[0]
        if shuffle is not None and constant(shuffle) is not False:
            continue
        if len(call.args) > 3 or in_a_test(code, call) or not _trains(code, name, call):
            continue
        yield Hit(call, f"{path(name)} gives the rows in the same order in every epoch")


def _trains(code: Code, loader: ast.expr, call: ast.Call) -> bool:
    """True if the loader's name says that the model learns from it."""
    words = f"{path(loader)} {ast.unparse(call)}".lower()
    if not path(loader) or any(part in last_name(loader).lower() for part in ORDERED):
        return False
    if "iterable" in words or "stream" in words:
        return False
    if is_fragment(code):
        return True
    return "train" in last_name(loader).lower()
