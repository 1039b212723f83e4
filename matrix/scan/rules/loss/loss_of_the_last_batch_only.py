from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, end, last_name, path, place, receiver
from ...training import backwards, ends_early, in_a_test, is_fragment, is_loader
from .. import needs

METRICS = ("loss", "acc", "dice", "iou", "psnr", "ssim", "f1", "auc", "score", "error")
# words of names whose value is not that of one batch
TOTALS = (
    *("total", "sum", "running", "avg", "average", "mean", "best", "epoch", "all", "history"),
    *("dict", "list"),
)


@needs("for", "loss|acc|dice|iou|psnr|ssim|f1|auc|score|error")
def loss_of_the_last_batch_only(code: Code) -> Iterator[Hit]:
    for loop in code.all(ast.For):
        if not is_loader(code, loop.iter) or ends_early(code, loop) or in_a_test(code, loop):
            continue
        if not is_fragment(code) and (backwards(code, loop) or code.within(loop, ast.Return)):
            continue
        for name, assignment in _computed(code, loop).items():
            use = _first_use_after(code, loop, name)
            if use is not None and not _is_collected(code, loop, name):
                yield Hit(
                    use,
                    f"{name} is only the value of the last batch, computed on line "
                    f"{assignment.lineno}",
                )


def _computed(code: Code, loop: ast.For) -> dict[str, ast.Assign]:
    """Name of a metric -> the assignment in the loop that computes it for one batch."""
    computed: dict[str, ast.Assign] = {}
    for assignment in code.within(loop, ast.Assign):
        target = assignment.targets[0]
        if (
            isinstance(target, ast.Name)
            and isinstance(assignment.value, ast.Call)
            and _is_metric(target.id)
            and code.loops(assignment)[0] is loop
            and not _is_of_a_total(code, loop, assignment.value)
        ):
            computed[target.id] = assignment
    return computed


def _is_of_a_total(code: Code, loop: ast.For, call: ast.Call) -> bool:
    """True if the call reads something that the loop extends, such as a confusion matrix."""
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
    return bool((extended - {""}) & {path(part) for part in ast.walk(call)})


def _is_metric(name: str) -> bool:
    words = name.lower().split("_")
    return any(word.startswith(METRICS) for word in words) and not any(
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
    outer = code.loops(loop)[:1]
    return first if code.loops(first)[:1] == outer else None


def _is_collected(code: Code, loop: ast.For, name: str) -> bool:
    """True if the loop reads the name, except to print it."""
    reads = [
        use
        for use in code.within(loop, ast.Name)
        if use.id == name and isinstance(use.ctx, ast.Load)
    ]
    return not all(_is_printed(code, use) for use in reads)


def _is_printed(code: Code, use: ast.Name) -> bool:
    return any(
        isinstance(above, ast.Call) and last_name(above.func) in ("print", "set_postfix")
        for above in code.ancestors(use)
    )
