from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path
from ...training import in_a_test, is_fragment
from .. import needs

VALIDATES = ("val", "dev_", "eval")


@needs("DataLoader")
def validation_changes_the_training_order(code: Code) -> Iterator[Hit]:
    if "fork_rng" in code.text:
        return
    for call in code.calls.get("DataLoader", ()):
        statement = code.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            continue
        name = path(statement.targets[0])
        if not last_name(statement.targets[0]).lower().startswith(VALIDATES):
            continue
        shuffles = constant(argument(call, 2, "shuffle")) is True or is_fragment(code)
        if shuffles and argument(call, -1, "generator") is None and not in_a_test(code, call):
            yield Hit(
                call,
                f"each pass over {name} draws from the generator that also shuffles the training "
                "rows",
            )
