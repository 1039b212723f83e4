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
        makers = [maker for maker in code.values(scheduler) if not is_none(maker)]
        plateaus = [maker for maker in makers if code.made_by(maker, "ReduceLROnPlateau")]
        if not plateaus or not all(isinstance(maker, ast.Call) for maker in makers):
            continue
        if any(not is_maker(code, maker) for maker in makers):
            continue
        tests = {path(scheduler), "isinstance", "type", "hasattr", "ReduceLROnPlateau"}
        for plateau in plateaus:
            tests |= _decided_by(code, plateau or step)
        around = _tests(code, step) + _early_exits(code, step)
        if any(names(test) & tests or source(scheduler) in source(test, 999) for test in around):
            continue
        if not any(isinstance(above, ast.Try) for above in code.ancestors(step)):
            yield Hit(
                step,
                f"{source(step, 40)} passes no metric, but {source(scheduler)} can be a "
                "ReduceLROnPlateau, which needs one",
            )


def _tests(code: Code, node: ast.AST) -> list[ast.expr]:
    """The tests of all `if` statements around the node, regardless of the node's branch."""
    return [above.test for above in code.ancestors(node) if isinstance(above, (ast.If, ast.IfExp))]


def _decided_by(code: Code, maker: ast.AST) -> set[str]:
    """The names that indicate whether this call has been run.

    These are the names in tests around the call, the names that store a part of such a test, and
    the flags that are set next to the call.
    """
    tests = _tests(code, maker)
    kinds = (ast.Name, ast.Attribute, ast.Compare)
    parts = {ast.dump(part) for test in tests for part in ast.walk(test) if isinstance(part, kinds)}
    statement = code.statement(maker)
    beside = code.block(statement) if isinstance(code.parent[statement], ast.If) else []
    told = {
        last_name(assignment.targets[0])
        for assignment in code.all(ast.Assign)
        if (
            (isinstance(assignment.value, kinds) and ast.dump(assignment.value) in parts)
            or (assignment in beside and isinstance(assignment.value, ast.Constant))
        )
    }
    return told.union(*(names(test) for test in tests)) - {""}


def _early_exits(code: Code, step: ast.Call) -> list[ast.expr]:
    """The tests before the step with a branch that ends the pass or the function."""
    return [
        branch.test
        for branch in code.within(code.function(step), ast.If)
        if place(branch) < place(step) and isinstance(branch.body[-1], (ast.Continue, ast.Return))
    ]
