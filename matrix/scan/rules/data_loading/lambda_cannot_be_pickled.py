from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant
from ...training import default_value, in_a_test, is_dead
from .. import needs


@needs("DataLoader", "num_workers", "lambda|def ")
def lambda_cannot_be_pickled(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("DataLoader", ()):
        workers = argument(call, 5, "num_workers")
        context = argument(call, -1, "multiprocessing_context")
        if workers is None or in_a_test(code, call) or is_dead(code, call):
            continue
        if 0 in (constant(code.value(workers)), constant(default_value(code, workers))):
            continue
        if not code.torch(call.func) or constant(context) == "fork":
            continue
        for name in ("collate_fn", "worker_init_fn"):
            function = argument(call, -1, name)
            if function is not None and (what := _local(code, function)):
                yield Hit(
                    function, f"{name} is {what}, which cannot be pickled for a spawned worker"
                )


def _local(code: Code, function: ast.expr) -> str:
    """ "a lambda", "a nested function", or "" for a function that pickle can find by name."""
    if isinstance(code.value(function), ast.Lambda):
        return "a lambda"
    if not isinstance(function, ast.Name):
        return ""
    defined = [
        definition
        for kind in (ast.FunctionDef, ast.AsyncFunctionDef)
        for definition in code.all(kind)
        if getattr(definition, "name", "") == function.id
        and isinstance(code.parent[definition], (ast.FunctionDef, ast.AsyncFunctionDef))
        and code.parent[definition]
        in [code.function(function), *code.ancestors(code.function(function))]
    ]
    return "a nested function" if defined else ""
