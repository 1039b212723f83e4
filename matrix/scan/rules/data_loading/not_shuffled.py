from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, has_unpacked, is_none, last_name, path
from ...project import definition
from ...training import in_a_test, is_dead, is_fragment
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
        if is_fragment(code) or not _is_drawn(code, argument(call, 0, "dataset")):
            found.add((code.function(call), name))
            yield Hit(call, f"{name} gives the rows in the same order in every epoch")


def _are_mixed(code: Code) -> bool:
    """True if the file shuffles or splits training rows at random, or loads a mixed data set."""
    splits = code.calls.get("train_test_split", ())
    return (
        bool({"random_split", "randperm", "permutation", "shuffle"} & set(code.calls))
        or any(constant(argument(call, -1, "shuffle")) is not False for call in splits)
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
    return is_fragment(code) or "train" in last or shuffles_elsewhere
