from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant
from ...training import default, in_a_test, is_dead
from .. import needs


@needs("DataLoader", "num_workers", "lambda|def ")
def lambda_cannot_be_pickled(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("DataLoader", ()):
        workers = argument(call, 5, "num_workers")
        context = argument(call, -1, "multiprocessing_context")
        if workers is None or in_a_test(code, call) or is_dead(code, call):
            continue
        if 0 in (constant(code.value(workers)), constant(default(code, workers))):
            continue
        if not code.torch(call.func) or constant(context) == "fork":
            continue
        for name in ("collate_fn", "worker_init_fn"):
            given = argument(call, -1, name)
            if given is not None and (what := _local(code, given)):
                yield Hit(given, f"{name} is {what}, which cannot be pickled for a spawned worker")


def _local(code: Code, given: ast.expr) -> str:
    """ "a lambda", "a nested function", or "" for what can be found by its name."""
    if isinstance(code.value(given), ast.Lambda):
        return "a lambda"
    if not isinstance(given, ast.Name):
        return ""
    defined = [
        one
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for one in code.all(kind)
        if getattr(one, "name", "") == given.id
        and isinstance(code.parent[one], (ast.FunctionDef, ast.AsyncFunctionDef))
        and code.parent[one] in [code.function(given), *code.ancestors(code.function(given))]
    ]
    return "a function inside of another" if defined else ""
