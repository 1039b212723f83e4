"""What goes into a loss, and what becomes of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..code import (
    Code,
    Hit,
    argument,
    constant,
    has_unpacked,
    is_none,
    last_name,
    names,
    path,
    place,
    receiver,
    source,
)
from ..training import (
    certain,
    criterion,
    is_fragment,
    is_module,
    is_never_mentioned,
    made,
    softened,
)
from . import needs

CROSS_ENTROPY = ("cross_entropy", "CrossEntropyLoss")
BCE_WITH_LOGITS = ("binary_cross_entropy_with_logits", "BCEWithLogitsLoss")
KL_DIV = ("kl_div", "KLDivLoss")
SHAPES = frozenset({"squeeze", "unsqueeze", "view", "reshape", "flatten", "float"})


@needs("cross_entropy|CrossEntropyLoss", "softmax|Softmax")
def softmax_before_cross_entropy(code: Code) -> Iterator[Hit]:
    for loss, score in _losses(code, *CROSS_ENTROPY):
        if how := _made_by_a(code, score, "softmax", "Softmax"):
            yield Hit(
                loss,
                f"{source(score)} are probabilities ({how}), and the loss takes the softmax again",
            )


@needs("_with_logits|BCEWithLogitsLoss", "sigmoid|Sigmoid")
def sigmoid_before_bce_with_logits(code: Code) -> Iterator[Hit]:
    for loss, score in _losses(code, *BCE_WITH_LOGITS):
        if how := _made_by_a(code, score, "sigmoid", "Sigmoid"):
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
        if _is_one_column(code, call):
            continue
        if is_never_mentioned(code, call):  # such helpers are copied from file to file
            continue
        is_mean = reduction is None or constant(reduction) == "mean"
        if (
            is_mean
            and _is_left(size_average)
            and _is_left(reduce)
            and not _is_scaled(code, call)
            and (is_fragment(code) or _is_weighed(code, call))
        ):
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


@needs("binary_cross_entropy|BCELoss", "Linear")
def bce_of_raw_outputs(code: Code) -> Iterator[Hit]:
    for loss, score in _losses(code, "binary_cross_entropy", "BCELoss"):
        if how := _made_by_a(code, score, "Linear", "Linear"):
            yield Hit(
                loss,
                f"{source(score)} can be any number ({how}), and the loss takes those of 0 to 1",
            )


@needs("backward()", "requires_grad=True|requires_grad = True")
def rewrapped_in_a_tensor(code: Code) -> Iterator[Hit]:
    for backward in code.calls.get("backward", ()):
        loss = receiver(backward)
        value = code.value(loss) if loss is not None else None
        if loss is None or not isinstance(value, ast.Call) or not certain(code, value, loss):
            continue
        if code.torch(value.func) not in ("tensor", "Variable") or not value.args:
            continue
        given = value.args[0]
        grad = argument(value, -1, "requires_grad")
        if constant(grad) is True and _is_computed(code, given):
            yield Hit(
                value,
                f"{source(value)} has lost what {source(given, 40)} was computed from: backward() "
                "reaches no parameter",
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


def _made_by_a(code: Code, node: ast.AST, function: str, module: str, depth: int = 3) -> str:
    """How this was made by such a call, if it is what a network of this file ends in: the call, or
    "Net ends in" it; "" where that is not known.
    """
    value = code.value(node)
    while isinstance(value, ast.Call) and code.method(value) in SHAPES:
        if not certain(code, value, node):
            return ""
        node = receiver(value) or value
        value = code.value(node)
    if not isinstance(value, ast.Call) or not certain(code, value, node) or not depth:
        return ""
    if _is_changed_in_place(code, node, value):
        return ""
    if _softened(code, value, function, module):
        return source(value, 40)
    if code.full(value.func) in ("self", "self.forward"):
        owner = code.owner(value)
        return _ends_so(code, owner, function, module, depth) if owner is not None else ""
    maker = made(code, value.func) if path(value.func) else None
    if maker is None:
        return ""
    if code.torch(maker.func) == module:
        return source(value, 40)
    if code.torch(maker.func) == "Sequential":
        last = code.value(maker.args[-1]) if maker.args else None
        is_so = isinstance(last, ast.Call) and code.torch(last.func) == module
        return f"its network ends in {source(last, 40)}" if last is not None and is_so else ""
    classes = [
        one
        for one in code.nodes.get(ast.ClassDef, ())
        if isinstance(one, ast.ClassDef) and one.name == code.full(maker.func)
    ]
    return _ends_so(code, classes[0], function, module, depth) if len(classes) == 1 else ""


def _is_changed_in_place(code: Code, name: ast.AST, value: ast.AST) -> bool:
    """out.sigmoid_() between the value and its use, also at the end of a chain."""
    for call in code.calls_in(code.function(name)):
        of: ast.AST | None = call
        while isinstance(of, ast.Call):
            of = receiver(of)
        if (
            last_name(call.func).endswith("_")
            and of is not None
            and path(of) == path(name) != ""
            and place(value) < place(call) < place(name)
        ):
            return True
    return False


def _ends_so(code: Code, owner: ast.ClassDef, function: str, module: str, depth: int) -> str:
    """How all that its forward() returns was made."""
    forwards = [
        one for one in owner.body if isinstance(one, ast.FunctionDef) and one.name == "forward"
    ]
    if len(forwards) != 1 or not is_module(code, owner):
        return ""
    ends = [
        _made_by_a(code, one.value, function, module, depth - 1) if one.value is not None else ""
        for one in code.within(forwards[0], ast.Return)
    ]
    return f"{owner.name} ends in {ends[0]}" if ends and all(ends) else ""


def _is_computed(code: Code, given: ast.expr) -> bool:
    """Whether it is what a model's output was made into, by its name or by what computed it."""
    if isinstance(given, ast.Attribute) and given.attr == "data":
        given = given.value
    if isinstance(given, (ast.List, ast.Tuple)):
        return bool(given.elts) and all(_is_computed(code, one) for one in given.elts)
    value = code.value(given)
    if value is not given and isinstance(value, (ast.Constant, ast.List, ast.Tuple)):
        return False
    if isinstance(given, (ast.Name, ast.Attribute)):
        name = last_name(given).lower()
        return "loss" in name and "weight" not in name
    return isinstance(given, ast.Call) and "loss" in last_name(given.func).lower()


def _is_left(option: ast.expr | None) -> bool:
    return option is None or is_none(option)


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


def _is_weighed(code: Code, made: ast.Call) -> bool:
    """Whether the divergence is multiplied by a weight or added to other losses: alone, only its
    value is another.
    """
    uses = [made]
    if code.torch(made.func) == "KLDivLoss":
        uses = [
            call
            for call in code.nodes.get(ast.Call, ())
            if isinstance(call, ast.Call) and code.value(call.func) is made
        ]
    return any(_is_a_term(code, one) for one in uses)


def _is_one_column(code: Code, call: ast.Call) -> bool:
    """Whether what is compared is flattened to one column: as many elements as rows."""
    return any(_is_flattened(code, one) for one in call.args[:2])


def _is_flattened(code: Code, node: ast.AST, depth: int = 4) -> bool:
    value = code.value(node) or node
    return any(
        [constant(size) for size in one.args] == [-1, 1]
        if isinstance(one, ast.Call) and last_name(one.func) in ("view", "reshape")
        else depth and one is not node and path(one) and _is_flattened(code, one, depth - 1)
        for one in ast.walk(value)
    )


def _is_a_term(code: Code, node: ast.AST, depth: int = 3) -> bool:
    """Whether it, or the name that it is given to, is a part of a sum or a product."""
    statement = code.statement(node)
    if isinstance(statement, ast.AugAssign):
        return True
    for one in code.ancestors(node):
        if isinstance(one, ast.BinOp) and isinstance(one.op, (ast.Add, ast.Mult)):
            return True
        if isinstance(one, (ast.stmt, ast.Tuple, ast.List)):
            break
    if not depth or not isinstance(statement, ast.Assign):
        return False
    given = {path(target) for target in statement.targets} - {""}
    return any(
        path(one) in given and place(one) > place(statement) and _is_a_term(code, one, depth - 1)
        for one in code.within(code.function(node), (ast.Name, ast.Attribute))
    )


def _softened_for_certain(code: Code, score: ast.expr, function: str, module: str) -> bool:
    value = code.value(score)
    is_so = isinstance(value, ast.Call) and _softened(code, value, function, module)
    return (
        is_so
        and value is not None
        and certain(code, value, score)
        and not _is_changed_in_place(code, score, value)
    )


def _softened(code: Code, value: ast.Call, function: str, module: str) -> bool:
    if path(receiver(value)) == "self":  # self.softmax(x): a LogSoftmax is called so too
        return criterion(code, value, function, module)
    return softened(code, value, function, module) is not None
