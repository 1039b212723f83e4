from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path, place
from .. import needs

PAIRS = {"a": "b", "b": "a"}


@needs("zeros(", "Parameter(")
def both_lora_factors_are_zero(code: Code) -> Iterator[Hit]:
    zeros: dict[tuple[ast.AST, str], ast.Assign] = {}
    for assignment in code.all(ast.Assign):
        name = path(assignment.targets[0])
        if name and _is_zero(code, assignment.value) and not _is_filled(code, assignment, name):
            zeros[code.function(assignment), name] = assignment
    for (function, name), assignment in zeros.items():
        partner = _partner(name)
        if (
            partner
            and (function, partner) in zeros
            and place(assignment) > place(zeros[function, partner])
        ):
            yield Hit(
                assignment,
                f"{partner} and {name} are both 0, so the gradients of both stay 0",
            )


def _partner(name: str) -> str:
    """B for A, lora_b for lora_a, and "" for other names."""
    if name[-1:].lower() not in PAIRS or not (len(name) == 1 or "lora" in name.lower()):
        return ""
    other = PAIRS[name[-1].lower()]
    return name[:-1] + (other.upper() if name[-1].isupper() else other)


def _is_zero(code: Code, value: ast.expr) -> bool:
    """True for Parameter(torch.zeros(...))."""
    if not isinstance(value, ast.Call) or code.torch(value.func) != "Parameter" or not value.args:
        return False
    inner = value.args[0]
    return isinstance(inner, ast.Call) and code.torch(inner.func) in ("zeros", "zeros_like")


def _is_filled(code: Code, assignment: ast.Assign, name: str) -> bool:
    """True if a call such as init.normal_(A) or A.data.normal_() fills the parameter."""
    owner = code.owner(assignment)
    return any(
        last_name(call.func).endswith("_")
        and code.owner(call) is owner
        and any(path(part) == name for part in ast.walk(call))
        for call in code.all(ast.Call)
    )
