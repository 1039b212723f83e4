from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant
from ...project import program
from ...training import default_value, in_a_test, is_dead
from .. import needs


@needs("DataLoader|Lambda", "num_workers|Lambda", "lambda|def ")
def lambda_cannot_be_pickled(code: Code) -> Iterator[Hit]:
    yield from _transforms(code)
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


def _transforms(code: Code) -> Iterator[Hit]:
    """Yields transforms.Lambda(lambda ...) in a program whose loaders have workers."""
    calls = [
        call
        for call in code.calls.get("Lambda", ())
        if isinstance(argument(call, 0, "lambd"), ast.Lambda)
        and code.full(call.func).startswith("torchvision.")
        and not in_a_test(code, call)
        and not is_dead(code, call)
    ]
    if calls and any(_has_workers(file) for file in program(code, "num_workers")):
        for call in calls:
            yield Hit(
                call, "the transform is a lambda, which cannot be pickled for a spawned worker"
            )


def _has_workers(code: Code) -> bool:
    return any(
        (workers := argument(call, 5, "num_workers")) is not None
        and 0 not in (constant(code.value(workers)), constant(default_value(code, workers)))
        and constant(argument(call, -1, "multiprocessing_context")) != "fork"
        for call in code.calls.get("DataLoader", ())
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
