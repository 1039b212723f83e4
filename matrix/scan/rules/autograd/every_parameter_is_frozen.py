from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, last_name, path, place, receiver
from ...training import OPTIMIZERS, is_fragment
from .. import needs


@needs("requires_grad = False|requires_grad=False", ".parameters()")
def every_parameter_is_frozen(code: Code) -> Iterator[Hit]:
    for loop in code.all(ast.For):
        model = _frozen(loop)
        if model is None or _may_thaw(code, loop, model):
            continue
        if is_fragment(code) or _is_trained(code, model):
            yield Hit(
                loop,
                f"this loop freezes every parameter of {path(model)}, so the optimizer has "
                "nothing to train",
            )


def _frozen(loop: ast.For) -> ast.expr | None:
    """The model in `for p in model.parameters(): p.requires_grad = False`."""
    call, body = loop.iter, loop.body
    if not isinstance(call, ast.Call) or last_name(call.func) != "parameters" or call.args:
        return None
    if len(body) != 1 or not isinstance(body[0], ast.Assign):
        return None
    target = body[0].targets[0]
    freezes = isinstance(target, ast.Attribute) and target.attr == "requires_grad"
    return receiver(call) if freezes and constant(body[0].value) is False else None


def _may_thaw(code: Code, loop: ast.For, model: ast.expr) -> bool:
    """True if the loop is in a branch, or if a part may be unfrozen or added afterwards."""
    if not path(model) or any(
        isinstance(above, (ast.If, ast.For, ast.While, ast.Try)) for above in code.ancestors(loop)
    ):
        return True
    for assignment in code.all(ast.Assign):
        target = assignment.targets[0]
        kept = constant(assignment.value) is False
        if isinstance(target, ast.Attribute) and target.attr == "requires_grad" and not kept:
            return True
    for assignment in code.within(code.function(loop), ast.Assign):
        target = assignment.targets[0]
        while isinstance(target, (ast.Attribute, ast.Subscript)) and path(target) != path(model):
            target = target.value
        if path(target) == path(model) and place(target) > place(loop):
            return True  # model.head = Linear(8, 3)
    thaws = ("requires_grad_", "setattr", "add_module", "unfreeze", "get_peft_model", "train_head")
    return any(code.calls.get(name) for name in thaws)


def _is_trained(code: Code, model: ast.expr) -> bool:
    """True if an optimizer in this file gets all parameters of this model and no others."""
    return any(
        path(receiver(call)) == path(model)
        and place(call) > place(model)
        and code.function(call) is code.function(model)
        and isinstance(above := code.parent[call], ast.Call)
        and code.torch(above.func) in OPTIMIZERS
        for call in code.calls.get("parameters", ())
    )
