from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path, place, receiver, source
from ...training import backwards, is_fragment, optimizer_steps
from .. import needs
from .shared import is_in, parts_of, window_of


@needs("backward", "/")
def accumulated_loss_is_divided(code: Code) -> Iterator[Hit]:
    for node in code.all(ast.Assign) + code.all(ast.AugAssign):
        divided = _divided(node)
        if divided is None:
            continue
        loss, window = divided
        loops = code.loops(node)
        block: ast.AST = loops[0] if loops else code.function(node)
        summed = bool(loops) and path(window) in _names_of_the_range(loops[0])
        if summed or not _is_a_window(code, window, block) or not backwards(code, block):
            continue
        for use in code.calls_in(block, "item", "detach"):
            above, statement = code.parent[use], code.statement(use)
            collected = isinstance(statement, ast.AugAssign) or code.calls_in(statement, "append")
            reported = collected or code.method(use) == "item"
            multiplied = isinstance(above, ast.BinOp) and isinstance(above.op, ast.Mult)
            if (
                path(receiver(use)) == loss
                and place(use) > place(node)
                and not code.excludes(use, node)
                and reported
                and not multiplied
                and not _is_corrected(code, statement, window)
            ):
                yield Hit(
                    use,
                    f"{source(use)} is already divided by {source(window, 40)}, so the reported "
                    "loss is too small by that factor",
                )
                break


def _divided(node: ast.AST) -> tuple[str, ast.expr] | None:
    """The name and the divisor in `loss = loss / window` or `loss /= window`."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div):
        return (path(node.target), node.value) if path(node.target) else None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    value, name = node.value, path(node.targets[0])
    if not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Div) or not name:
        return None
    return (name, value.right) if path(value.left) == name else None


def _is_corrected(code: Code, statement: ast.stmt, window: ast.expr) -> bool:
    """True if the code corrects the sum of the losses or never reads it.

    The code may multiply the sum by the window, or divide it by the number of steps. It may also
    reset the sum for each window, because the sum over a window is the mean of the window.
    """
    if not isinstance(statement, ast.AugAssign):
        return False
    total, function, loops = path(statement.target), code.function(statement), code.loops(statement)
    for operation in code.within(function, ast.BinOp):
        parts = {path(operation.left), path(operation.right)}
        if isinstance(operation.op, ast.Mult) and parts == {total, path(window)}:
            return True
        of_steps = path(operation.right) in _step_counters(code, function)
        if (
            isinstance(operation.op, ast.Div)
            and of_steps
            and total in map(path, ast.walk(operation.left))
        ):
            return True
    reads = [name for name in code.within(function, ast.Name) if isinstance(name.ctx, ast.Load)]
    if "." not in total and not is_fragment(code) and not any(read.id == total for read in reads):
        return True
    if len(loops) < 2:
        return False
    starts = [assignment for assignment in loops[1].body if isinstance(assignment, ast.Assign)]
    steps = [step for step in optimizer_steps(code, loops[1]) if not is_in(code, step, loops[0])]
    return bool(steps) and any(path(start.targets[0]) == total for start in starts)


def _step_counters(code: Code, function: ast.AST) -> set[str]:
    """The names of counters of complete windows."""
    return {
        path(increment.target)
        for increment in code.within(function, ast.AugAssign)
        if any(window_of(part) for test in code.conditions(increment) for part in parts_of(test))
    }


def _names_of_the_range(loop: ast.For | ast.AsyncFor | ast.While) -> set[str]:
    """The names in range(window): a loop over this range sums divided losses to their mean."""
    if isinstance(loop, ast.While) or not isinstance(loop.iter, ast.Call):
        return set()
    return {path(bound) for bound in loop.iter.args}


def _is_a_window(code: Code, window: ast.expr, block: ast.AST) -> bool:
    """True if the window is a number of batches, judging by its name or by the test of an `if`."""
    name = path(window)
    if not name:
        return False
    if "accum" in name.lower() or "window" in name.lower():
        return True
    return any(
        isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod) and path(part.right) == name
        for branch in code.within(block, ast.If)
        for part in ast.walk(branch.test)
    )
