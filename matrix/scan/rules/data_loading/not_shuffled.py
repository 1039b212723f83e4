from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, has_unpacked, last_name, path
from ...project import definition
from ...training import in_a_test, is_fragment
from .. import needs

ORDERED = ("val", "test", "eval", "untrained")
SUBSTITUTES = ("sampler", "batch_sampler")
FOLDERS = ("ImageFolder", "DatasetFolder")
LISTS = frozenset({"listdir", "scandir", "glob", "iglob", "rglob", "walk", "iterdir"})


# data sets that are not in the order of their classes
MIXED = re.compile(r"mnist|cifar|svhn", re.IGNORECASE)


@needs("DataLoader")
def not_shuffled(code: Code) -> Iterator[Hit]:
    if not is_fragment(code) and _are_mixed(code):
        return
    for call in code.calls.get("DataLoader", ()):
        statement = code.statement(call)
        if not isinstance(statement, ast.Assign) or statement.value is not call:
            continue
        if has_unpacked(call) or any(argument(call, -1, name) is not None for name in SUBSTITUTES):
            continue
        shuffle, name = argument(call, 2, "shuffle"), statement.targets[0]
        if shuffle is not None and constant(shuffle) is not False:
            continue
        if len(call.args) > 3 or in_a_test(code, call) or not _trains(code, name, call):
            continue
        if not is_fragment(code) and not _is_ordered(code, argument(call, 0, "dataset")):
            continue
        yield Hit(call, f"{path(name)} yields the rows in the same order in every epoch")


def _are_mixed(code: Code) -> bool:
    """True if the file shuffles or splits rows at random, or loads a mixed data set."""
    splits = code.calls.get("train_test_split", ())
    return (
        bool({"random_split", "randperm", "permutation", "shuffle"} & set(code.calls))
        or any(constant(argument(call, -1, "shuffle")) is not False for call in splits)
        or MIXED.search(code.text) is not None
    )


def _is_ordered(code: Code, dataset: ast.expr | None) -> bool:
    """True if the data set lists files by folder or name, and does not shuffle the list."""
    made = code.value(dataset)
    if not isinstance(made, ast.Call):
        return False
    if last_name(made.func) in FOLDERS:
        return True
    found = definition(code, made.func)
    calls = {
        last_name(part.func)
        for part in (ast.walk(found.node) if found is not None else ())
        if isinstance(part, ast.Call)
    }
    return bool(calls & LISTS) and not calls & {"shuffle", "permutation", "sample"}


def _trains(code: Code, loader: ast.expr, call: ast.Call) -> bool:
    """True if the loader's name says that the model learns from it."""
    words = f"{path(loader)} {ast.unparse(call)}".lower()
    if not path(loader) or any(part in last_name(loader).lower() for part in ORDERED):
        return False
    if "iterable" in words or "stream" in words:
        return False
    if is_fragment(code):
        return True
    return "train" in last_name(loader).lower()
