from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, end, last_name, names, path, place, receiver
from ...training import ends_early, in_a_test, is_dead, is_loader
from .. import needs

METRICS = ("loss", "accuracy", "dice", "iou", "psnr", "ssim", "f1", "auc", "score", "error")
# words of names whose value is not that of one batch
TOTALS = (
    *("total", "sum", "running", "avg", "average", "mean", "best", "epoch", "all", "history"),
    *("dict", "list", "min", "max", "prev", "last", "ema", "smooth", "scale", "weight"),
)
COMPUTES = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript)


@needs("for", "loss|acc|dice|iou|psnr|ssim|f1|auc|score|error")
def loss_of_the_last_batch_only(code: Code) -> Iterator[Hit]:
    for loop in code.all(ast.For):
        if not _is_over_batches(code, loop) or ends_early(code, loop):
            continue
        if in_a_test(code, loop) or is_dead(code, loop):
            continue
        for name, assignment in _computed(code, loop).items():
            use = _first_use_after(code, loop, name)
            if use is not None:
                yield Hit(
                    use,
                    f"{name} is only the value of the last batch, computed on line "
                    f"{assignment.lineno}",
                )


def _is_over_batches(code: Code, loop: ast.For) -> bool:
    """True for a loop over a loader, and for `for i in range(num_batches)`."""
    if is_loader(code, loop.iter):
        return True
    words = {word.lower() for word in names(loop.iter)}
    return bool(words & {"num_batches", "n_batches", "nb_batches", "batches"})


def _computed(code: Code, loop: ast.For) -> dict[str, ast.Assign]:
    """Name of a metric -> the assignment in the loop that computes it for one batch."""
    computed: dict[str, ast.Assign] = {}
    of_a_total: set[str] = set()
    extended = _extended(code, loop)
    for assignment in code.within(loop, ast.Assign):
        target, value = assignment.targets[0], assignment.value
        parts = target.elts if isinstance(target, ast.Tuple) else [target]
        if not isinstance(value, COMPUTES if len(parts) == 1 else ast.Call):
            continue
        is_of_a_total = bool(extended & {path(part) for part in ast.walk(value)})
        for part in parts:
            if not isinstance(part, ast.Name) or not _is_metric(part.id, value):
                continue
            if is_of_a_total:
                of_a_total.add(part.id)
            elif _runs_in_each_pass(code, assignment, loop):
                computed[part.id] = assignment
    return {name: value for name, value in computed.items() if name not in of_a_total}


def _runs_in_each_pass(code: Code, assignment: ast.Assign, loop: ast.For) -> bool:
    """True if the innermost loop over data around the assignment is this loop.

    A loop such as `for _ in range(5)`, which repeats an update, may be in between.
    """
    for inner in code.loops(assignment):
        if inner is loop:
            return True
        if not isinstance(inner, ast.For) or last_name(inner.target) != "_":
            return False
    return False


def _extended(code: Code, loop: ast.For) -> set[str]:
    """The names of what the loop extends, such as a confusion matrix."""
    extended: set[str] = set()
    started = {path(part) for part in ast.walk(loop.target)}  # new in each pass
    for assignment in sorted(code.within(loop, (ast.Assign, ast.AugAssign)), key=place):
        adds = isinstance(assignment, ast.AugAssign)
        read = {path(part) for part in ast.walk(assignment.value)}
        for target in [assignment.target] if adds else assignment.targets:
            for name in map(path, getattr(target, "elts", [target])):
                (extended if name not in started and (adds or name in read) else started).add(name)
    extended |= {
        path(receiver(each))
        for each in code.calls_in(loop, "append", "extend", "update", "add")
        if receiver(each) is not None and path(receiver(each)) not in started
    }
    return extended - {""}


def _is_metric(name: str, value: ast.expr) -> bool:
    """True for the name of a loss or a metric, such as val_loss and, for a sum, total_loss."""
    words = name.lower().split("_")
    if isinstance(value, ast.BinOp) and "total" in words:
        words.remove("total")
    return any(word == "acc" or word.startswith(METRICS) for word in words) and not any(
        word.startswith(TOTALS) for word in words
    )


def _first_use_after(code: Code, loop: ast.For, name: str) -> ast.Name | None:
    """The first read of the name after the loop, if nothing assigns it in between."""
    function = code.function(loop)
    uses = [
        use
        for use in code.within(function, ast.Name)
        if use.id == name and place(use) > end(loop) and code.function(use) is function
    ]
    first = min(uses, key=place, default=None)
    if first is None or not isinstance(first.ctx, ast.Load) or code.excludes(loop, first):
        return None
    statement = code.statement(first)
    if isinstance(statement, ast.Assign) and any(
        path(part) == name for target in statement.targets for part in ast.walk(target)
    ):
        return None  # `loss = loss / len(loader)`
    outer = code.loops(loop)[:1]
    return first if code.loops(first)[:1] == outer else None
