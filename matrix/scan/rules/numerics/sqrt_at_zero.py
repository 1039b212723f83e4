from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, receiver, source
from ...training import (
    backward_of,
    backwards,
    criterion,
    in_a_test,
    is_fragment,
    is_network,
    without_grad,
)
from .. import needs

INPUTS = re.compile(r"coord|xyz|pos|point")  # usually data, which needs no gradient
PLAIN = ("item", "detach", "numpy", "cpu", "data")


@needs("sqrt|**", "sum(|mean(|mse_loss|MSELoss")
def sqrt_at_zero(code: Code) -> Iterator[Hit]:
    for root, inner in _roots(code):
        if (
            _is_sum_of_squares(code, inner)
            and _has_gradient(code, root)
            and not without_grad(code, root)
            and not in_a_test(code, root)
            and not any(
                isinstance(above, ast.Attribute) and above.attr in PLAIN
                for above in code.ancestors(root)
            )
        ):
            yield Hit(root, f"the gradient of {source(root)} is NaN where the root is 0")


def _roots(code: Code) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yields the square roots of tensors, each with what is under the root."""
    for call in code.calls.get("sqrt", ()):
        if code.full(call.func).startswith("torch."):
            inner = argument(call, 0, "input")
        else:
            inner = receiver(call) if not call.args and not code.is_imported(call.func) else None
        if inner is not None:
            yield call, inner
    for power in code.all(ast.BinOp):
        if isinstance(power.op, ast.Pow) and source(power.right) in ("0.5", "1 / 2"):
            yield power, power.left


def _is_sum_of_squares(code: Code, node: ast.expr) -> bool:
    """True for a sum or a mean of squares, and for a mean squared error."""
    value = code.value(node)
    if not isinstance(value, ast.Call):
        return False
    if criterion(code, value, "mse_loss", "MSELoss"):
        return True
    if last_name(value.func) not in ("sum", "mean"):
        return False
    if code.full(value.func).startswith("torch."):
        summed = argument(value, 0, "input")
    else:
        summed = None if code.is_imported(value.func) else receiver(value)
    if summed is None or any(INPUTS.search(name) for name in names(summed)):
        return False
    return _is_square(code, summed)


def _is_square(code: Code, node: ast.expr) -> bool:
    value = code.value(node)
    if isinstance(value, ast.BinOp):
        if isinstance(value.op, ast.Pow):
            return constant(value.right) in (2, 2.0)
        return isinstance(value.op, ast.Mult) and ast.dump(value.left) == ast.dump(value.right)
    if not isinstance(value, ast.Call) or code.full(value.func).startswith(("numpy.", "math.")):
        return False
    if last_name(value.func) == "pow":
        at = 1 if code.torch(value.func) else 0
        return constant(argument(value, at, "exponent")) in (2, 2.0)
    return last_name(value.func) == "square"


def _has_gradient(code: Code, root: ast.expr) -> bool:
    """True if the root is in forward(), in a loss, or in a value whose backward() runs."""
    if is_fragment(code):
        return True
    function, owner = code.function(root), code.owner(root)
    name = getattr(function, "name", "")
    if is_network(code, owner) and name == "forward":
        return True
    if "loss" in name.lower():
        return True
    statement = code.statement(root)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(
        path(backward_of(call)) in {path(target) for target in targets} - {""}
        for call in backwards(code, function)
    )
