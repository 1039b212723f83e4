from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, is_none, last_name, names, path, place, receiver, source
from .. import needs
from .shared import is_bare, is_maker


@needs("ReduceLROnPlateau", "step()")
def plateau_needs_a_metric(code: Code) -> Iterator[Hit]:
    for step in code.calls.get("step", ()):
        scheduler = receiver(step)
        if not is_bare(code, step) or scheduler is None or not path(scheduler):
            continue
        makers = [one for one in code.values(scheduler) if not is_none(one)]
        those = [one for one in makers if code.made_by(one, "ReduceLROnPlateau")]
        if not those or not all(isinstance(one, ast.Call) for one in makers):
            continue
        if any(not is_maker(code, one) for one in makers):
            continue
        tests = {path(scheduler), "isinstance", "type", "hasattr", "ReduceLROnPlateau"}
        for one in those:
            tests |= _decided_by(code, one or step)
        around = _tests(code, step) + _early_ways_out(code, step)
        if any(names(test) & tests or source(scheduler) in source(test, 999) for test in around):
            continue
        if not any(isinstance(above, ast.Try) for above in code.ancestors(step)):
            yield Hit(
                step,
                f"{source(step, 40)} passes no metric, and {source(scheduler)} can be a "
                "ReduceLROnPlateau, which needs one",
            )


def _tests(code: Code, node: ast.AST) -> list[ast.expr]:
    """The tests of all `if`s that it is in, in whichever branch."""
    return [one.test for one in code.ancestors(node) if isinstance(one, (ast.If, ast.IfExp))]


def _decided_by(code: Code, maker: ast.AST) -> set[str]:
    """The names that tell whether this maker ran: those of the tests that it stands under, what
    else is given one of those tests, and the flags that are set beside it.
    """
    tests = _tests(code, maker)
    kinds = (ast.Name, ast.Attribute, ast.Compare)
    parts = {ast.dump(one) for test in tests for one in ast.walk(test) if isinstance(one, kinds)}
    statement = code.statement(maker)
    beside = code.block(statement) if isinstance(code.parent[statement], ast.If) else []
    told = {
        last_name(one.targets[0])
        for one in code.all(ast.Assign)
        if (
            (isinstance(one.value, kinds) and ast.dump(one.value) in parts)
            or (one in beside and isinstance(one.value, ast.Constant))
        )
    }
    return told.union(*(names(test) for test in tests)) - {""}


def _early_ways_out(code: Code, step: ast.Call) -> list[ast.expr]:
    """The tests before it in whose branch the pass, or the function, ends."""
    return [
        one.test
        for one in code.within(code.function(step), ast.If)
        if place(one) < place(step) and isinstance(one.body[-1], (ast.Continue, ast.Return))
    ]
