from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path, place, source
from ...training import is_fragment
from .. import needs


@needs(".data|state_dict()", "sum(|+=", "loss")
def penalty_of_detached_weights(code: Code) -> Iterator[Hit]:
    for name, place_of_sum, detached in _sums(code):
        if _changes_gradients(code, place_of_sum):
            continue
        if is_fragment(code) or _reaches_a_loss(code, name, place_of_sum):
            yield Hit(
                place_of_sum,
                f"{source(detached, 40)} has no graph, so {name} changes the loss but not "
                "the gradients",
            )


def _sums(code: Code) -> Iterator[tuple[str, ast.AST, ast.AST]]:
    """Yields (name, place, detached weight) for each sum of norms over detached weights."""
    for assignment in code.all(ast.Assign):
        call, name = assignment.value, path(assignment.targets[0])
        if not isinstance(call, ast.Call) or path(call.func) != "sum" or not call.args or not name:
            continue
        terms = call.args[0]
        if isinstance(terms, (ast.GeneratorExp, ast.ListComp)):
            weight = _detached(terms.elt, terms.generators[0].iter, terms.generators[0].target)
            if weight is not None:
                yield name, assignment, weight
    for addition in code.all(ast.AugAssign):
        loops, name = code.loops(addition), path(addition.target)
        if isinstance(addition.op, ast.Add) and loops and isinstance(loops[0], ast.For) and name:
            weight = _detached(addition.value, loops[0].iter, loops[0].target)
            if weight is not None:
                yield name, addition, weight


def _detached(term: ast.AST, weights: ast.expr, target: ast.expr) -> ast.AST | None:
    """The detached weight in the norm of a weight of the model, or None."""
    names = {part.id for part in ast.walk(target) if isinstance(part, ast.Name)}
    calls = {last_name(part.func) for part in ast.walk(weights) if isinstance(part, ast.Call)}
    norms = {last_name(part.func) for part in ast.walk(term) if isinstance(part, ast.Call)}
    if not norms & {"norm", "abs", "pow", "square", "sum"} or norms & {"item", "detach", "numel"}:
        return None
    for part in ast.walk(term):
        if isinstance(part, ast.Attribute) and part.attr == "data" and path(part.value) in names:
            return part if calls & {"parameters", "named_parameters"} else None
    if "state_dict" in calls and any(path(part) in names for part in ast.walk(term)):
        return weights
    return None


def _changes_gradients(code: Code, sum_of_norms: ast.AST) -> bool:
    """True if the loop around the sum also adds a term to .grad, such as the penalty's gradient."""
    return any(
        ".grad" in path(addition.target)
        for loop in code.loops(sum_of_norms)[:1]
        for addition in code.within(loop, ast.AugAssign)
    )


def _reaches_a_loss(code: Code, name: str, first: ast.AST) -> bool:
    """True if the code calls backward(), and later adds the sum to a variable called a loss."""
    if not code.calls.get("backward"):
        return False
    for later in (*code.within(code.function(first), (ast.Assign, ast.AugAssign)),):
        target = later.targets[0] if isinstance(later, ast.Assign) else later.target
        if place(later) <= place(first) or "loss" not in path(target).lower():
            continue
        if "log" in path(target).lower() or any(
            last_name(call.func) in ("item", "detach")
            for call in ast.walk(later.value)
            if isinstance(call, ast.Call)
        ):
            continue
        if any(path(part) == name for part in ast.walk(later.value)):
            return True
    return False
