from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, names, place, source
from ...iterators import reader_to_the_end, yields_once
from ...training import OPTIMIZERS
from .. import needs


@needs("parameters")
def parameters_are_used_up(code: Code) -> Iterator[Hit]:
    for node in code.all(ast.Assign):
        if not isinstance(node.targets[0], ast.Name) or not _is_iterator(code, node.value):
            continue
        scope = code.scope(node)
        readers = [
            (name, reader)
            for name in code.within(scope, ast.Name)
            if name.id == node.targets[0].id
            and isinstance(name.ctx, ast.Load)
            and code.scope(name) is scope
            and code.value(name) is node.value
            and (reader := reader_to_the_end(code, name)) is not None
        ]
        for name, reader in readers:
            if not isinstance(reader, ast.Call) or last_name(reader.func) not in OPTIMIZERS:
                continue
            before = [
                earlier
                for use, earlier in readers
                if place(use) < place(name) and not _never_runs_after(code, earlier, reader)
            ]
            if before:
                taker = source(before[0], 50)
                if isinstance(before[0], ast.For):
                    taker = f"the loop on line {before[0].lineno}"
                yield Hit(
                    reader,
                    f"{name.id} is an iterator that {taker} has already used up, so the optimizer "
                    "gets no parameters",
                )


def _is_iterator(code: Code, value: ast.expr) -> bool:
    """True if the value yields parameters only once."""
    parameters = names(value) & {"parameters", "named_parameters"}
    return bool(parameters) and yields_once(code, value)


def _never_runs_after(code: Code, first: ast.AST, second: ast.AST) -> bool:
    """True if branches or an early return prevent the second node from running after the first."""
    if code.excludes(first, second):
        return True
    inside = set(code.ancestors(second))
    return any(
        isinstance(above, ast.If)
        and above not in inside
        and any(isinstance(part, (ast.Return, ast.Raise)) for part in above.body)
        for above in code.ancestors(first)
    )
