from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, path, source
from ...training import OPTIMIZERS, backwards, creating_call, in_a_test, is_dead, optimizer_steps
from .. import needs
from .shared import has_no_closure, optimizer_of

Loop = ast.For | ast.AsyncFor | ast.While


@needs("backward", "step(")
def missing_zero_grad(code: Code) -> Iterator[Hit]:
    clears = _clears(code)
    if clears is None:
        return
    for step in code.calls.get("step", ()):
        if step not in optimizer_steps(code, code.statement(step)):
            continue
        if not all(_is_of_another_case(code, clear, step) for clear in clears):
            continue
        if not has_no_closure(code, step):
            continue
        optimizer = optimizer_of(code, step)
        loops = code.loops(step)
        if not loops or optimizer is None or not _is_torch_optimizer(code, optimizer, loops):
            continue
        if in_a_test(code, step) or is_dead(code, step):
            continue
        if isinstance(loops[0].body[-1], (ast.Break, ast.Return)):  # the loop has only one pass
            continue
        if any(code.loops(call)[:1] == loops[:1] for call in backwards(code, loops[0])):
            yield Hit(
                step,
                f"nothing clears the gradients, so each {source(step, 40)} uses "
                "the sum of the gradients of all backward passes so far",
            )


def _clears(code: Code) -> list[ast.Call] | None:
    """The calls of zero_grad(), or None if other code in the file may clear gradients."""
    words = ("zero", "reset", "clear", "clean", "none")
    used = {attribute.attr for attribute in code.all(ast.Attribute)}
    used |= {function.name for function in code.all(ast.FunctionDef)}
    used |= set(code.calls)
    others = used - {"zero_grad"}
    if "grad" in others or any(
        "grad" in name.lower() and any(word in name.lower() for word in words) for name in others
    ):
        return None
    return code.calls.get("zero_grad", [])


def _is_of_another_case(code: Code, clear: ast.Call, step: ast.Call) -> bool:
    """True if the loop clears the gradients only where it does not take this step."""
    return code.loops(clear)[:1] == code.loops(step)[:1] and code.excludes(clear, step)


def _is_torch_optimizer(code: Code, optimizer: ast.expr, loops: list[Loop]) -> bool:
    """True if every known value of the optimizer comes from torch.optim, outside the loops."""
    if path(optimizer) and code.torch(optimizer):  # a fragment that does not define the name
        return True
    if _is_parameter(code, optimizer):  # the function receives the optimizer
        makers = _made_by_callers(code, optimizer)
        return bool(makers) and all(
            maker is not None and (code.torch(maker.func) in OPTIMIZERS or _is_configured(maker))
            for maker in makers
        )
    values = code.values(optimizer)
    return bool(values) and all(
        isinstance(value, ast.Call)
        and (code.torch(value.func) in OPTIMIZERS or _is_configured(value))
        and not any(above in loops for above in code.ancestors(value))
        for value in values
    )


def _made_by_callers(code: Code, parameter: ast.expr) -> list[ast.Call | None]:
    """The calls that create the arguments passed for the parameter in this file, excluding None."""
    function = code.function(parameter)
    assert isinstance(function, ast.FunctionDef)
    places = [parameter.arg for parameter in function.args.posonlyargs + function.args.args]
    at = places.index(path(parameter)) if path(parameter) in places else -1
    at -= at > 0 and isinstance(code.parent[function], ast.ClassDef)  # self
    passed = [argument(call, at, path(parameter)) for call in code.calls.get(function.name, ())]
    optimizers = [value for value in passed if value is not None and ast.unparse(value) != "None"]
    return [creating_call(code, optimizer) for optimizer in optimizers]


def _is_configured(maker: ast.Call) -> bool:
    """True for hydra.utils.instantiate(cfg.optimizer, ...)."""
    return last_name(maker.func) == "instantiate"


def _is_parameter(code: Code, node: ast.expr) -> bool:
    function = code.function(node)
    if not isinstance(function, ast.FunctionDef) or len(code.values(node)) != 1:
        return False
    arguments = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
    return path(node) in [parameter.arg for parameter in arguments]
