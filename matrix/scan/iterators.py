"""Recognizes iterators, which can be read only once, and the calls and loops that exhaust them."""

from __future__ import annotations

import ast

from .code import Code, last_name, path, place
from .training import OPTIMIZERS, ends_early

CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grad_value")
READERS = {"list", "tuple", "set", "sum", "sorted", "max", "min", "dict", "all", "any"}


def yields_once(code: Code, value: ast.AST | None) -> bool:
    """True if the value can be read only once, such as a generator, filter(), map(), chain() or
    model.parameters().
    """
    if isinstance(value, ast.GeneratorExp):
        return True
    if not isinstance(value, ast.Call):
        return False
    if last_name(value.func) in ("parameters", "named_parameters"):
        return isinstance(value.func, ast.Attribute) and not any(
            isinstance(method, ast.FunctionDef)
            and method.name == value.func.attr
            and not code.within(
                method, (ast.Yield, ast.YieldFrom)
            )  # such a method may return a list
            for method in code.all(ast.FunctionDef)
        )
    return (
        code.full(value.func) in ("filter", "map", "itertools.chain")
        or last_name(value.func) == "from_iterable"
    )


def reader_to_the_end(code: Code, name: ast.AST) -> ast.AST | None:
    """The call or loop that is certain to read the iterator to its end, or None."""
    inner, above = name, code.parent[name]
    while isinstance(above, (ast.Dict, ast.List, ast.Tuple, ast.keyword, ast.Starred, ast.IfExp)):
        inner, above = above, code.parent[above]
    if isinstance(above, ast.For) and inner is above.iter:
        return None if ends_early(code, above) else above
    if isinstance(above, ast.comprehension) and inner is above.iter:
        above = code.parent[above]
        return above if not isinstance(above, ast.GeneratorExp) else reader_to_the_end(code, above)
    if isinstance(above, ast.Call) and inner is not above.func:
        called = last_name(above.func)
        if called in ("chain", "filter", "map"):
            return reader_to_the_end(code, above)
        if called in READERS and inner is name:
            return above
        if called in (*CLIPS, "parameters_to_vector") or is_optimizer_call(above):
            return above
        if "ema" in called.lower() or "optim" in path(above.func).lower():
            return above
        return None
    if isinstance(above, ast.Assign) and inner is not name and len(above.targets) == 1:
        groups = path(above.targets[0])  # [{"params": parameters}]
        later = [
            use
            for use in code.within(code.function(above), ast.Name)
            if use.id == groups and isinstance(use.ctx, ast.Load) and place(use) > place(above)
        ]
        readers = (reader_to_the_end(code, use) for use in later)
        return next((reader for reader in readers if is_optimizer_call(reader)), None)
    return None


def is_optimizer_call(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Call) and (
        last_name(node.func) in OPTIMIZERS or "optim" in last_name(node.func).lower()
    )
