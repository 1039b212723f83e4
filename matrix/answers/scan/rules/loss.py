"""What goes into a loss, and what becomes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import Code, Hit, argument, constant, has_unpacked, names, path, source
from ..training import certain, is_module, made, softened
from . import needs

CROSS_ENTROPY = ("cross_entropy", "CrossEntropyLoss")
BCE_WITH_LOGITS = ("binary_cross_entropy_with_logits", "BCEWithLogitsLoss")
KL_DIV = ("kl_div", "KLDivLoss")


@needs("cross_entropy|CrossEntropyLoss", "softmax|Softmax")
def softmax_before_cross_entropy(code: Code) -> Iterator[Hit]:
    for loss, score in _losses(code, *CROSS_ENTROPY):
        if how := _squashed(code, score, "softmax", "Softmax"):
            yield Hit(
                loss,
                f"{source(score)} are probabilities ({how}), and the loss takes the softmax again",
            )


@needs("_with_logits|BCEWithLogitsLoss", "sigmoid|Sigmoid")
def sigmoid_before_bce_with_logits(code: Code) -> Iterator[Hit]:
    for loss, score in _losses(code, *BCE_WITH_LOGITS):
        if how := _squashed(code, score, "sigmoid", "Sigmoid"):
            yield Hit(
                loss,
                f"{source(score)} are probabilities ({how}), and the loss takes the sigmoid again",
            )


@needs("kl_div|KLDivLoss")
def kl_div_mean_divides_by_the_classes(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("kl_div", []) + code.calls.get("KLDivLoss", []):
        name = code.torch(call.func)
        if name not in KL_DIV or code.full(call.func) == "torch.kl_div" or has_unpacked(call):
            continue
        options = ("size_average", "reduce", "reduction")
        first = 2 if name == "kl_div" else 0
        size_average, reduce, reduction = (
            argument(call, position, option) for position, option in enumerate(options, first)
        )
        is_mean = reduction is None or constant(reduction) == "mean"
        if is_mean and _is_left(size_average) and _is_left(reduce) and not _is_scaled(code, call):
            how = "without a reduction" if reduction is None else "with reduction='mean'"
            yield Hit(
                call,
                f"{source(call.func)}() {how} divides by the number of elements, not of samples",
            )


@needs("kl_div|KLDivLoss", "softmax|Softmax")
def kl_div_of_probabilities(code: Code) -> Iterator[Hit]:
    for loss, score in _losses(code, *KL_DIV):
        if _softened_for_certain(code, score, "softmax", "Softmax"):
            yield Hit(
                loss, f"{source(score)} are probabilities, and kl_div takes their logarithms first"
            )


# --- what the rules above share -------------------------------------------------------------------


def _losses(code: Code, function: str, module: str) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls that compute this loss, with what they are given first."""
    for call in code.nodes.get(ast.Call, ()):
        assert isinstance(call, ast.Call)
        score = argument(call, 0, "input")
        if score is None:
            continue
        if code.torch(call.func) == function:
            yield call, score
        elif isinstance(call.func, ast.Call) or path(call.func):
            maker = made(code, call.func)
            if maker is not None and maker is not call and code.torch(maker.func) == module:
                yield call, score


def _squashed(code: Code, score: ast.expr, function: str, module: str) -> str:
    """How these scores became probabilities; "" where that is not known."""
    call = _softened_for_certain(code, score, function, module)
    if call is not None:
        return source(call, 40)
    output = code.value(score)
    if not isinstance(output, ast.Call) or not certain(code, output, score):
        return ""
    if code.full(output.func) in ("self", "self.forward"):
        owner = code.owner(output)
        return _ends_so(code, owner, function, module) if owner is not None else ""
    maker = made(code, output.func) if path(output.func) else None
    return _made_to_end_so(code, maker, function, module)


def _is_left(option: ast.expr | None) -> bool:
    return option is None or (isinstance(option, ast.Constant) and option.value is None)


def _is_scaled(code: Code, call: ast.Call) -> bool:
    """Whether the mean is multiplied by a number of classes or elements."""
    sizes = ("size", "shape", "numel", "len", "class", "vocab", "dim")
    return any(
        isinstance(above, ast.BinOp)
        and isinstance(above.op, ast.Mult)
        and any(size in name.lower() for name in names(above) for size in sizes)
        for above in code.ancestors(call)
        if not isinstance(above, ast.stmt)
    )


def _softened_for_certain(
    code: Code, score: ast.expr, function: str, module: str
) -> ast.AST | None:
    call = softened(code, score, function, module)
    return call if call is not None and certain(code, call, score) else None


def _made_to_end_so(code: Code, maker: ast.Call | None, function: str, module: str) -> str:
    """How a network that was made by this call turns its output into probabilities."""
    if maker is None:
        return ""
    if code.torch(maker.func) == "Sequential":
        last = code.value(maker.args[-1]) if maker.args else None
        is_so = isinstance(last, ast.Call) and code.torch(last.func) == module
        return f"its network ends in {source(last, 40)}" if last is not None and is_so else ""
    classes = [
        one
        for one in code.nodes.get(ast.ClassDef, ())
        if isinstance(one, ast.ClassDef) and one.name == code.full(maker.func)
    ]
    return _ends_so(code, classes[0], function, module) if len(classes) == 1 else ""


def _ends_so(code: Code, owner: ast.ClassDef, function: str, module: str) -> str:
    """How all that its forward() returns are probabilities."""
    forwards = [
        one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == "forward"
    ]
    if len(forwards) != 1 or not is_module(code, owner):
        return ""
    ends = [_end(code, one, function, module) for one in code.within(forwards[0], ast.Return)]
    return f"{owner.name} ends in {ends[0]}" if ends and all(ends) else ""


def _end(code: Code, end: ast.Return, function: str, module: str) -> str:
    if end.value is None:
        return ""
    call = _softened_for_certain(code, end.value, function, module)
    if call is not None:
        return source(call, 40)
    value = code.value(end.value)
    if not isinstance(value, ast.Call) or not certain(code, value, end.value):
        return ""
    maker = made(code, value.func) if path(value.func) else None
    if maker is None or code.torch(maker.func) != "Sequential" or not maker.args:
        return ""
    last = code.value(maker.args[-1])
    is_so = isinstance(last, ast.Call) and code.torch(last.func) == module
    return source(last, 40) if last is not None and is_so else ""
