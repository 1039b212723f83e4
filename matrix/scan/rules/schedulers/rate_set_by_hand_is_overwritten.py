from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, constant, last_name, names, path, place, receiver, source
from ...training import is_dead, is_fragment, is_scheduler
from .. import needs
from .shared import is_bare, is_maker, steps_of

# Schedulers that compute each rate from the initial rate, and not from the current rate.
OVERWRITE = ("LambdaLR", "CosineAnnealingWarmRestarts", "OneCycleLR", "CyclicLR")


@needs("param_groups", "\"lr\"|'lr'", "step(")
def rate_set_by_hand_is_overwritten(code: Code) -> Iterator[Hit]:
    if "base_lrs" in code.text or "initial_lr" in code.text:
        return
    for node, optimizer in _set_rates(code):
        for use, passed in _uses(code, node, optimizer):
            steps = _later_steps(code, use, passed)
            if steps and not is_dead(code, node):
                yield Hit(
                    node,
                    f"{source(steps[0])} overwrites this rate, because it computes each rate from "
                    "the initial rate",
                )
                break


def _set_rates(code: Code) -> Iterator[tuple[ast.stmt, ast.expr]]:
    """Yields group["lr"] = rate in loops over the groups of an optimizer, with the optimizer.

    Excludes a warmup, after which the schedule should replace the rate.
    """
    for loop in code.all(ast.For):
        groups = loop.iter
        if not isinstance(groups, ast.Attribute) or groups.attr != "param_groups":
            continue
        tests = code.conditions(loop)
        if any("warm" in word.lower() for test in tests for word in names(test)):
            continue
        for node in loop.body:
            target = node.targets[0] if isinstance(node, ast.Assign) else None
            target = node.target if isinstance(node, ast.AugAssign) else target
            if (
                isinstance(target, ast.Subscript)
                and constant(target.slice) == "lr"
                and path(target.value) == path(loop.target) != ""
            ):
                yield node, groups.value


def _uses(code: Code, node: ast.stmt, optimizer: ast.expr) -> Iterator[tuple[ast.AST, ast.expr]]:
    """Yields the node, and each call of its function with the optimizer that the call passes."""
    yield node, optimizer
    function = code.function(node)
    if isinstance(function, ast.FunctionDef):
        parameters = [parameter.arg for parameter in function.args.args]
        if path(optimizer) in parameters and parameters[0] != "self":
            at = parameters.index(path(optimizer))
            for call in code.calls.get(function.name, ()):
                passed = argument(call, at, path(optimizer))
                if passed is not None and "warm" not in function.name:
                    yield call, passed


def _later_steps(code: Code, use: ast.AST, optimizer: ast.expr) -> list[ast.Call]:
    """The later scheduler steps that overwrite the rate, in the same function as the use."""
    function = code.function(use)
    if is_fragment(code):
        return [
            step
            for step in code.calls_in(function, "step")
            if is_scheduler(code, receiver(step)) and place(step) > place(use)
        ]
    return [
        step
        for maker in _makers(code)
        if path(argument(maker, 0, "optimizer")) == path(optimizer) != ""
        and _is_before(code, maker, use)
        for step in steps_of(code, maker)
        if is_bare(code, step)
        and code.function(step) is function
        and not code.excludes(step, use)
        and (place(step) > place(use) or set(code.loops(step)) & set(code.loops(use)))
    ]


def _makers(code: Code) -> list[ast.Call]:
    return [
        call
        for name, calls in code.calls.items()
        if name in OVERWRITE or (name.startswith("get_") and "schedule" in name)
        for call in calls
        if is_maker(code, call) and last_name(call.func) == name
    ]


def _is_before(code: Code, maker: ast.Call, use: ast.AST) -> bool:
    """True if the scheduler exists when the rate is set. A later scheduler keeps the rate."""
    if code.function(maker) is code.function(use):
        return place(maker) < place(use)
    return getattr(code.function(maker), "name", "__init__") in ("__init__", "setup")
