from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import (
    Code,
    Edit,
    Hit,
    argument,
    constant,
    end,
    has_unpacked,
    inserted,
    names,
    path,
    place,
    receiver,
    source,
)
from ...training import default_value, is_dead, is_fragment, is_network, without_grad
from .. import needs

DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d")  # alpha_dropout's default is False
# Modules that deliberately drop values in eval mode, such as Tacotron's prenet or Monte Carlo
# dropout.
ALWAYS_DROP = ("prenet", "mcdrop", "montecarlo", "bayes", "uncertain")


@needs("ropout")
def functional_dropout_in_eval_mode(code: Code) -> Iterator[Hit]:
    for call in [call for name in DROPOUTS for call in code.calls.get(name, ())]:
        if (
            code.full(call.func).startswith(("torch.nn.functional.", "dropout"))
            and code.torch(call.func)
            and argument(call, 2, "training") is None
            and not has_unpacked(call)
            and _can_drop(code, argument(call, 1, "p"))
            and _runs_in_eval_mode(code, call)
        ):
            yield Hit(
                call,
                f"{source(call)} ignores the module's mode, so it still drops values after eval()",
                _pass_the_mode(code, call),
            )
    for layer in [call for name in DROPOUTS for call in code.calls.get(name.capitalize(), ())]:
        above = code.parent[layer]
        if (
            code.torch(layer.func)
            and isinstance(above, ast.Call)
            and above.func is layer
            and _can_drop(code, argument(layer, 0, "p"))
            and _runs_in_eval_mode(code, above)
        ):
            yield Hit(
                above,
                f"{source(layer)} creates a new layer in train mode on each call, so it still "
                "drops values after eval()",
            )


def _pass_the_mode(code: Code, call: ast.Call) -> tuple[Edit, ...]:
    function = code.scope(call)
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if not isinstance(function, ast.FunctionDef) or not values:
        return ()
    if [parameter.arg for parameter in function.args.args][:1] != ["self"]:
        return ()
    return (inserted(max(map(end, values)), ", training=self.training"),)


def _can_drop(code: Code, p: ast.expr | None) -> bool:
    """True if the dropout probability is not 0 and does not depend on the mode.

    A name without a known value counts as 0, because a caller may pass 0.
    """
    value = code.value(p)
    if value is None and isinstance(p, ast.Name):
        return False  # a caller of the method may pass 0
    if constant(default_value(code, p)) == 0:
        return False
    return value is None or (constant(value) != 0 and not _asks_for_mode(value))


def _runs_in_eval_mode(code: Code, call: ast.Call) -> bool:
    """True if no code in sight restricts the call to training."""
    if is_fragment(code):
        return True
    owner, function = code.owner(call), code.function(call)
    if owner is None or not is_network(code, owner) or not isinstance(function, ast.FunctionDef):
        return False
    if is_dead(code, call):
        return False
    if _is_for_training(code, call) or _is_named_for_training(function.name):
        return False
    if without_grad(code, call) or any(word in owner.name.lower() for word in ALWAYS_DROP):
        return False
    callers = [
        caller
        for caller in code.calls.get(function.name, ())
        if path(receiver(caller)) == "self" and code.owner(caller) is owner
    ]
    return not callers or not all(_is_for_training(code, caller) for caller in callers)


def _is_named_for_training(function: str) -> bool:
    return function == "__init__" or any(word in function for word in ("train", "loss", "augment"))


def _is_for_training(code: Code, node: ast.AST) -> bool:
    """True if the code tests the mode around the node, or before it with an early return."""
    function = code.function(node)
    for above in code.ancestors(node):
        if above is function:
            break
        if isinstance(above, (ast.If, ast.IfExp, ast.While)) and _asks_for_mode(above.test):
            return True
        if isinstance(above, ast.BoolOp) and _asks_for_mode(above):
            return True
    return any(
        _asks_for_mode(branch.test) and isinstance(branch.body[-1], (ast.Return, ast.Raise))
        for branch in code.within(function, ast.If)
        if place(branch) < place(node)
    )


def _asks_for_mode(test: ast.AST) -> bool:
    return any("train" in name.lower() or "eval" in name.lower() for name in names(test))
