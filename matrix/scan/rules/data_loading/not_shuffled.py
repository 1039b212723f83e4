from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, has_unpacked, is_none, last_name, names, path
from ...project import called, definition, imports, program
from ...training import ITERATES, functions_called, in_a_test, is_dead, is_fragment
from .. import needs

ORDERED = ("val", "test", "eval", "untrained", "infer", "predict", "embed", "feature", "stat")
SAMPLERS = ("DistributedSampler", "RandomSampler")
DRAWS = ("shuffle", "permutation", "sample", "randint", "random", "randperm", "choice", "choices")

# data sets that are not in the order of their classes
MIXED = re.compile(r"mnist|cifar|svhn", re.IGNORECASE)


@needs("DataLoader")
def not_shuffled(code: Code) -> Iterator[Hit]:
    if not is_fragment(code) and _are_mixed(code):
        return
    found: set[tuple[ast.AST, str]] = set()
    for call in code.calls.get("DataLoader", ()):
        shuffle = argument(call, 2, "shuffle")
        if not code.torch(call.func) or (shuffle is not None and constant(shuffle) is not False):
            continue
        if has_unpacked(call) or len(call.args) > 3 or in_a_test(code, call) or is_dead(code, call):
            continue
        if not is_none(argument(call, -1, "batch_sampler") or ast.Constant(None)):
            continue
        sampler = argument(call, -1, "sampler")
        if sampler is not None and not is_none(sampler) and not _is_distributed(code, sampler):
            continue
        name = _name(code, call)
        shuffles_elsewhere = shuffle is None and sampler is not None and not is_none(sampler)
        if not _trains(code, name, call, shuffles_elsewhere):
            continue
        if (code.function(call), name) in found:  # a second loader evaluates on the training rows
            continue
        if not is_fragment(code) and not _is_used(code, call, name):
            continue
        if is_fragment(code) or not _is_drawn(code, argument(call, 0, "dataset")):
            found.add((code.function(call), name))
            yield Hit(call, f"{name} yields the rows in the same order in every epoch")


def _are_mixed(code: Code) -> bool:
    """True if the file shuffles rows, has a loader that does so, or loads a mixed data set."""
    return (
        bool({"random_split", "randperm", "permutation", "shuffle"} & set(code.calls))
        or any(
            "train" in _name(code, call) and _may_shuffle(call)
            for call in code.calls.get("DataLoader", ())
        )
        or MIXED.search(code.text) is not None
    )


def _may_shuffle(call: ast.Call) -> bool:
    shuffle = argument(call, 2, "shuffle")
    return shuffle is not None and constant(shuffle) is not False


def _is_distributed(code: Code, sampler: ast.expr) -> bool:
    """True for `sampler = DistributedSampler(rows) if distributed else None`."""
    value = code.value(sampler)
    if not isinstance(value, ast.IfExp):
        return False
    parts = [value.body, value.orelse]
    return any(map(is_none, parts)) and any(
        isinstance(part, ast.Call) and last_name(part.func) in SAMPLERS for part in parts
    )


def _name(code: Code, call: ast.Call) -> str:
    """The name of the loader, or of the function that returns it."""
    statement = code.statement(call)
    if isinstance(statement, ast.Assign) and statement.value is call:
        return path(statement.targets[0])
    if isinstance(statement, ast.Return) and statement.value is call:
        function = getattr(code.function(call), "name", "")
        return f"the result of {function}()" if function else ""
    return ""


def _is_drawn(code: Code, dataset: ast.expr | None) -> bool:
    """True if the data set is streamed, or draws its rows or their order itself."""
    made = code.value(dataset)
    if not isinstance(made, ast.Call):
        return False
    found = definition(code, made.func)
    if found is None:
        return False
    bases = getattr(found.node, "bases", [])
    drawn = any(
        last_name(part.func) in DRAWS for part in ast.walk(found.node) if isinstance(part, ast.Call)
    )
    return drawn or any("Iterable" in last_name(base) for base in bases)


def _trains(code: Code, name: str, call: ast.Call, shuffles_elsewhere: bool) -> bool:
    """True if the loader's name says that the model learns from it."""
    words = f"{name} {ast.unparse(call)}".lower()
    last = name.rpartition(".")[2].lower()
    if not name or any(part in last for part in ORDERED):
        return False
    if "iterable" in words or "stream" in words:
        return False
    return (
        is_fragment(code) or "train" in last or shuffles_elsewhere or _is_for_training(code, call)
    )


def _is_used(code: Code, call: ast.Call, name: str) -> bool:
    """True if a step of training reads the loader, or if another file may do so.

    A loader that is only read for statistics, or by an evaluation, needs no order. The same is true
    for a loader of a single batch.
    """
    size = argument(call, 1, "batch_size")
    if isinstance(size, ast.Call) and last_name(size.func) == "len":
        return False
    target = getattr(code.statement(call), "targets", [None])[0]
    if not isinstance(target, ast.Name):
        return True
    scope = code.function(call)
    uses = [
        part
        for part in code.all(ast.Name)
        if part.id == name and isinstance(part.ctx, ast.Load)
        if scope is code.tree or scope in code.ancestors(part)
    ]
    return not uses or any(_trains_with(code, use) for use in uses)


def _trains_with(code: Code, use: ast.Name) -> bool:
    """True if a loop with backward() reads the loader, or if it is passed on to train()."""
    for above in code.ancestors(use):
        if isinstance(above, ast.Call):
            name = last_name(above.func).lower()
            if name in ("len", "print"):
                return False
            if name not in ITERATES:
                return _may_train(code, above, name)
        if isinstance(above, ast.For):
            return _steps(code, above)
        if isinstance(above, ast.stmt):
            return isinstance(above, (ast.Return, ast.Assign))
    return False


def _may_train(code: Code, call: ast.Call, name: str) -> bool:
    found = called(code, call)
    if found is None:
        return not any(part in name for part in (*ORDERED, "mean", "extract", "get_"))
    return _steps(found.code, found.node)


def _steps(code: Code, node: ast.AST) -> bool:
    """True if the node calls backward() or step(), directly or in a function of the file."""
    return any(
        code.calls_in(each, "backward", "step", "training_step", "train_step")
        for each in (node, *functions_called(code, node))
    ) or any("train" in last_name(call.func).lower() for call in code.calls_in(node))


def _is_for_training(code: Code, call: ast.Call) -> bool:
    """True if the rows are those of a loop over [train_rows, val_rows], or if the function returns
    the loader that another function calls train_loader.
    """
    used = {part.id for part in ast.walk(call) if isinstance(part, ast.Name)}
    for loop in code.loops(call):
        if (
            isinstance(loop, ast.For)
            and isinstance(loop.iter, (ast.List, ast.Tuple))
            and names(loop.target) & used
            and _has_training(loop.iter)
        ):
            return True
    function = code.function(call)
    if not isinstance(function, ast.FunctionDef) or not isinstance(
        code.statement(call), ast.Return
    ):
        return False
    return any(
        isinstance(statement := file.statement(use), ast.Assign)
        and statement.value is use
        and "train" in last_name(statement.targets[0]).lower()
        for file in program(code, f"{function.name}(")
        if (file is code or imports(file, code))
        and (file.calls.get("backward") or file.calls.get("fit"))
        for use in file.calls.get(function.name, ())
    )


def _has_training(rows: ast.List | ast.Tuple) -> bool:
    return any("train" in name.lower() for element in rows.elts for name in names(element))
