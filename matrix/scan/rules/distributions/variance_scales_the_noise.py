from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, path, receiver, source
from .. import needs

LOG_VARIANCE = re.compile(r"(log|ln)_?(var|sigma_?sq|sigma_?2|sigma_?squared)", re.IGNORECASE)
NOISE = ("randn", "randn_like", "normal", "normal_")


@needs("var|sigma|Var", "exp(")
def variance_scales_the_noise(code: Code) -> Iterator[Hit]:
    for product, factors in _products(code):
        log_variance = next(filter(None, (_log_variance(code, part) for part in factors)), None)
        if (
            log_variance is not None
            and any(_is_noise(code, part) for part in factors)
            and _is_added(code, product)
            and not _is_a_deviation(code, log_variance)
        ):
            yield Hit(
                product,
                f"exp({source(log_variance)}) is the variance, but noise has to be scaled by the "
                "standard deviation",
            )


def _products(code: Code) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """Yields a * b, a.mul(b) and torch.mul(a, b), each with its factors."""
    for product in code.all(ast.BinOp):
        if isinstance(product.op, ast.Mult):
            yield product, [product.left, product.right]
    for call in [call for name in ("mul", "mul_", "multiply") for call in code.calls.get(name, ())]:
        first = receiver(call)
        if code.torch(call.func):
            yield call, call.args
        elif first is not None and call.args:
            yield call, [first, call.args[0]]


def _log_variance(code: Code, node: ast.expr) -> ast.expr | None:
    """The log_var of log_var.exp(), torch.exp(log_var) or a name for this call."""
    call = code.value(node)
    if not isinstance(call, ast.Call) or last_name(call.func) not in ("exp", "exp_"):
        return None
    inner = argument(call, 0, "input") if call.args or call.keywords else receiver(call)
    if inner is None or code.full(call.func).startswith(("numpy.", "math.")):
        return None
    return inner if LOG_VARIANCE.search(last_name(inner)) else None


def _is_noise(code: Code, node: ast.expr) -> bool:
    value = code.value(node)
    if value is None:
        return last_name(node) in ("eps", "epsilon", "noise")
    return any(
        last_name(part.func) in NOISE for part in ast.walk(value) if isinstance(part, ast.Call)
    )


def _is_added(code: Code, product: ast.expr) -> bool:
    """True for mean + product and product.add(mean)."""
    above = code.parent[product]
    if isinstance(above, ast.BinOp):
        return isinstance(above.op, ast.Add)
    return isinstance(above, ast.Attribute) and above.attr in ("add", "add_")


def _is_a_deviation(code: Code, log_variance: ast.expr) -> bool:
    """True if the value is halved, or if the file doubles it or squares its exp()."""
    value, name = code.value(log_variance), last_name(log_variance)
    numbers = [constant(part) for part in ast.walk(value)] if value is not None else []
    if path(log_variance) and (0.5 in numbers or 2 in numbers):
        return True
    if any(
        isinstance(other.op, ast.Mult)
        and constant(other.left) == 2
        and last_name(other.right) == name
        for other in code.all(ast.BinOp)
    ):
        return True
    squared = [power.left for power in code.all(ast.BinOp) if isinstance(power.op, ast.Pow)]
    squared += filter(None, (_base(code, call) for call in code.calls.get("pow", ())))
    return any(
        inner is not None and last_name(inner) == name
        for inner in (_log_variance(code, part) for part in squared)
    )


def _base(code: Code, power: ast.Call) -> ast.expr | None:
    """The x of x.pow(2) and torch.pow(x, 2)."""
    return argument(power, 0, "input") if code.torch(power.func) else receiver(power)
