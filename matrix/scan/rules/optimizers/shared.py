"""Helpers for gradients that are cleared too early or never, and for parameters without a step."""

from __future__ import annotations

import ast

from ...code import Code, argument, last_name, path, receiver
from ...training import creating_call, is_optimizer, is_scaler


def optimizer_of(code: Code, step: ast.Call) -> ast.expr | None:
    """The optimizer that is stepped, such as opt in opt.step() and scaler.step(opt)."""
    if is_scaler(code, receiver(step)):
        return step.args[0] if step.args else None
    return receiver(step)


def is_of(code: Code, clear: ast.Call, step: ast.Call) -> bool:
    """True if this zero_grad() is a call on the optimizer of the step, or on its model."""
    cleared, stepped = receiver(clear), optimizer_of(code, step)
    if cleared is None or stepped is None:
        return False
    if ast.dump(cleared) == ast.dump(stepped):
        return is_optimizer(code, cleared)
    maker = creating_call(code, stepped)
    params = argument(maker, 0, "params") if maker is not None else None
    return (
        isinstance(params, ast.Call)
        and last_name(params.func) == "parameters"
        and path(receiver(params)) == path(cleared) != ""
    )


def has_no_closure(code: Code, step: ast.Call) -> bool:
    """True if the step has no closure. A closure may itself clear and compute the gradients."""
    return not step.keywords and len(step.args) == int(is_scaler(code, receiver(step)))


def reads_gradients(node: ast.AST) -> bool:
    """True if the code itself reads gradients, so that optimizer steps are not their only use."""
    calls = [last_name(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)]
    harmless = {"zero_grad", "no_grad", "enable_grad", "set_grad_enabled", "requires_grad_"}
    return any(
        isinstance(part, ast.Attribute) and part.attr == "grad" for part in ast.walk(node)
    ) or (any("grad" in name and name not in harmless and "clip" not in name for name in calls))
