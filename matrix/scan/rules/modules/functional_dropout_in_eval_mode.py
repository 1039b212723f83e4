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
from ...training import default, is_dead, is_fragment, is_network, without_grad
from .. import needs

DROPOUTS = ("dropout", "dropout1d", "dropout2d", "dropout3d")  # alpha_dropout's default is False
# Modules that drop values in eval mode on purpose: Tacotron's prenet, Monte Carlo dropout.
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
                f"{source(call)} does not know the module's mode: it drops values after eval() too",
                _told_the_mode(code, call),
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
                f"{source(layer)} makes a new layer, in train mode, at each call: it drops values "
                "after eval() too",
            )


def _told_the_mode(code: Code, call: ast.Call) -> tuple[Edit, ...]:
    function = code.scope(call)
    given = [*call.args, *(one.value for one in call.keywords)]
    if not isinstance(function, ast.FunctionDef) or not given:
        return ()
    if [one.arg for one in function.args.args][:1] != ["self"]:
        return ()
    return (inserted(max(map(end, given)), ", training=self.training"),)


def _can_drop(code: Code, p: ast.expr | None) -> bool:
    """Whether it may be above 0 in eval mode."""
    value = code.value(p)
    if value is None and isinstance(p, ast.Name):
        return False  # whoever calls the method may give it 0
    if constant(default(code, p)) == 0:
        return False
    return value is None or (constant(value) != 0 and not _asks_for_mode(value))


def _runs_in_eval_mode(code: Code, call: ast.Call) -> bool:
    """Whether nothing that can be seen keeps it to training."""
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
        one
        for one in code.calls.get(function.name, ())
        if path(receiver(one)) == "self" and code.owner(one) is owner
    ]
    return not callers or not all(_is_for_training(code, one) for one in callers)


def _is_named_for_training(function: str) -> bool:
    return function == "__init__" or any(word in function for word in ("train", "loss", "augment"))


def _is_for_training(code: Code, node: ast.AST) -> bool:
    """Whether a test of the mode comes before it: around it, or as an early return."""
    function = code.function(node)
    for one in code.ancestors(node):
        if one is function:
            break
        if isinstance(one, (ast.If, ast.IfExp, ast.While)) and _asks_for_mode(one.test):
            return True
        if isinstance(one, ast.BoolOp) and _asks_for_mode(one):
            return True
    return any(
        _asks_for_mode(one.test) and isinstance(one.body[-1], (ast.Return, ast.Raise))
        for one in code.within(function, ast.If)
        if place(one) < place(node)
    )


def _asks_for_mode(test: ast.AST) -> bool:
    return any("train" in name.lower() or "eval" in name.lower() for name in names(test))
