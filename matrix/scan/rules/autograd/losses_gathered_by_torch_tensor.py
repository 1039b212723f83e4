from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path, receiver, source
from .. import needs

# Calls that a loss may pass through on its way to backward().
PASSED = frozenset({"mean", "sum", "to", "cuda", "float", "max", "min"})


@needs("tensor(", "backward(")
def losses_gathered_by_torch_tensor(code: Code) -> Iterator[Hit]:
    for backward in code.calls.get("backward", ()):
        loss = receiver(backward)
        for term in _terms(code, loss) if loss is not None else ():
            if not isinstance(term, ast.Call) or code.torch(term.func) not in ("tensor", "Tensor"):
                continue
            if len(term.args) == 1 and not term.keywords and _are_losses(code, term.args[0]):
                yield Hit(
                    term,
                    f"{source(term.func)}() copies the values of {source(term.args[0], 40)} "
                    "without their graph, so they get no gradient",
                )


def _terms(code: Code, node: ast.AST, depth: int = 4) -> Iterator[ast.AST]:
    """The terms whose sum is the node."""
    value = code.value(node)
    if not depth or value is None:
        return
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
        yield from _terms(code, value.left, depth - 1)
        yield from _terms(code, value.right, depth - 1)
    elif isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Mult, ast.Div)):
        yield from _terms(code, value.left, depth - 1)
    elif isinstance(value, ast.Call) and last_name(value.func) in PASSED:
        inner = value.args[0] if code.torch(value.func) and value.args else receiver(value)
        if inner is not None:
            yield from _terms(code, inner, depth - 1)
    else:
        yield value


def _are_losses(code: Code, gathered: ast.expr) -> bool:
    """True if the expression is a list of losses, such as [loss_a, loss_b] or built by append()."""
    if isinstance(gathered, ast.List):
        return bool(gathered.elts) and all(_is_a_loss(code, loss) for loss in gathered.elts)
    name = path(gathered)
    if "loss" not in name.lower() or "weight" in name.lower():
        return False
    if code.torch(gathered):  # a fragment that does not define the name
        return True
    added = [
        call.args[0]
        for call in code.calls_in(code.function(gathered), "append")
        if path(receiver(call)) == name and call.args
    ]
    return bool(added) and all(_is_a_loss(code, loss) for loss in added)


def _is_a_loss(code: Code, node: ast.expr) -> bool:
    """True if the node is a tensor with a graph rather than a number, judging by its name."""
    value = code.value(node)
    numbers = ("item", "float", "detach", "tolist", "cpu", "numpy")
    if isinstance(value, ast.Call) and last_name(value.func) in numbers:
        return False
    if isinstance(value, ast.Constant):
        return False
    words = last_name(value.func if isinstance(value, ast.Call) else node).lower()
    return "weight" not in words and any(
        word in words for word in ("loss", "criterion", "cross_entropy", "mse")
    )
