from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, path, source
from ...training import creating_call, is_dead
from .. import needs
from .shared import maker_calls

WRAPPERS = ("max", "min", "float")


@needs("LambdaLR", "lr")
def lambda_lr_returns_a_rate(code: Code) -> Iterator[Hit]:
    for maker in maker_calls(code, "LambdaLR"):
        optimizer = creating_call(code, argument(maker, 0, "optimizer"))
        rate = argument(optimizer, 1, "lr") if optimizer is not None else None
        if rate is None or not path(rate) or constant(code.value(rate)) in (1, 1.0):
            continue
        factors = argument(maker, 1, "lr_lambda")
        for factor in factors.elts if isinstance(factors, ast.List) else [factors]:
            if any(_contains(code, returned, rate) for returned in _results(code, factor)):
                yield Hit(
                    maker,
                    f"{source(rate)} is already the optimizer's rate, which LambdaLR multiplies by "
                    f"a factor that contains {source(rate)}",
                )
                break


def _results(code: Code, function: ast.expr | None) -> list[ast.expr]:
    """The expressions that the function returns."""
    value = code.value(function)
    if isinstance(value, ast.Lambda):
        return [value.body]
    if not isinstance(function, ast.Name):
        return []
    return [
        returned.value
        for defined in code.all(ast.FunctionDef)
        if defined.name == function.id and not is_dead(code, defined)
        for returned in code.within(defined, ast.Return)
        if returned.value is not None
    ]


def _contains(code: Code, result: ast.expr, rate: ast.expr) -> bool:
    """True if the rate is a factor of the result."""
    if isinstance(result, (ast.Name, ast.Attribute)):
        return path(result) == path(rate)
    if isinstance(result, ast.BinOp) and isinstance(result.op, ast.Mult):
        return _contains(code, result.left, rate) or _contains(code, result.right, rate)
    if isinstance(result, ast.BinOp) and isinstance(result.op, ast.Div):
        return _contains(code, result.left, rate) and not _contains(code, result.right, rate)
    if isinstance(result, ast.IfExp):
        return _contains(code, result.body, rate) or _contains(code, result.orelse, rate)
    if isinstance(result, ast.Call) and path(result.func) in WRAPPERS:
        return any(_contains(code, value, rate) for value in result.args)
    return False
