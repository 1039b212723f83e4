from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, end, last_name, names, path, place, source
from ...training import in_a_test
from .. import needs
from .shared import CARES, standardizations


@needs("mean(", "std(")
def constant_column_standardized(code: Code) -> Iterator[Hit]:
    seen: set[ast.Call] = set()  # one finding per deviation
    for node, x, std in standardizations(code):
        divisor = node.right
        if (
            std not in seen
            and _is_per_column(code, std)
            and code.value(divisor) is std
            and not _is_guarded(code, divisor)
            and not in_a_test(code, node)
        ):
            seen.add(std)
            yield Hit(node, f"{source(divisor)} is 0 for a constant column of {source(x)}")


def _is_per_column(code: Code, std: ast.Call) -> bool:
    """True for x.std(0), torch.std(x, dim=0) and np.std(x, axis=0)."""
    at = 1 if code.full(std.func).startswith(("torch.", "numpy.")) else 0
    dim = argument(std, at, "dim") or argument(std, at, "axis")
    return constant(dim) == 0 and constant(dim) is not False


def _is_guarded(code: Code, divisor: ast.expr) -> bool:
    """True if the code changes or tests the deviation between its calculation and this use."""
    name = path(divisor)
    if not name:
        return False
    made = code.value(divisor)
    if made is None:
        return True
    for other in code.within(code.function(made), (ast.Compare, ast.Call, ast.AugAssign)):
        if place(other) < end(made):
            continue
        if isinstance(other, ast.AugAssign) and path(other.target) == name:
            return True
        is_test = isinstance(other, ast.Compare) or last_name(other.func) in CARES
        if is_test and last_name(divisor) in names(other):
            return True
    return False
