from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path, receiver
from ...project import around
from ...training import epoch_loop, is_fragment, is_optimizer, resumes
from .. import needs
from .shared import keys_of, restores

BEST = ("best", "max_acc", "min_loss", "max_score")


@needs("save", "best|max_|min_", "load|checkpoint")
def best_score_is_forgotten(code: Code) -> Iterator[Hit]:
    if not _continues(code) or any(_keeps_a_best(file) for file in around(code, "best")):
        return
    for test in code.all(ast.If):
        best = _compared(code, test)
        if best is not None and _saves(code, test) and epoch_loop(code, test) is not None:
            yield Hit(
                test,
                f"a resumed run starts with the initial value of {path(best)} again, so its first "
                "epoch counts as the best",
            )
            return


def _continues(code: Code) -> bool:
    """True if the file resumes training an epoch or an optimizer, or restores with a helper."""
    return resumes(code) and (
        is_fragment(code)
        or any(constant(part.slice) == "epoch" for part in code.all(ast.Subscript))
        or any(is_optimizer(code, receiver(call)) for call in code.calls.get("load_state_dict", ()))
        or bool(restores(code))
    )


def _compared(code: Code, test: ast.If) -> ast.expr | None:
    """The variable with the best score in `if score > best`, which the branch then assigns."""
    if not isinstance(test.test, ast.Compare) or len(test.test.ops) != 1:
        return None
    if not isinstance(test.test.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE)):
        return None
    assigned = {
        path(target)
        for assignment in code.within(test, ast.Assign)
        for target in assignment.targets
    }
    for side in (test.test.left, test.test.comparators[0]):
        if path(side) in assigned and any(part in last_name(side).lower() for part in BEST):
            return side
    return None


def _saves(code: Code, test: ast.If) -> bool:
    """True if the branch saves something, or another branch of the same block and condition."""
    same = [
        other
        for other in code.block(test)
        if isinstance(other, ast.If) and ast.dump(other.test) == ast.dump(test.test)
    ]
    return any(
        "save" in last_name(call.func).lower() for branch in same for call in code.calls_in(branch)
    )


def _keeps_a_best(code: Code) -> bool:
    """True if a key names a best value, or if a best value is read from a checkpoint."""
    keys = keys_of(code)
    keys += [value for call in code.calls.get("get", ()) for value in call.args]
    words = [str(constant(key)) for key in keys if isinstance(constant(key), str)]
    words += [keyword.arg or "" for keyword in code.all(ast.keyword)]
    words += [
        path(target)
        for assignment in code.all(ast.Assign)
        if any(isinstance(part, ast.Subscript) for part in ast.walk(assignment.value))
        for target in assignment.targets
        if not is_fragment(code)
    ]
    return any("best" in word.lower() for word in words)
