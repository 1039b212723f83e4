from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Edit, Hit, constant, end, last_name, names, source
from .. import needs
from .shared import classes, has_parameters, is_direct_module

# A layer whose name contains one of these words has no parameters.
BARE = (
    "Identity", "Dropout", "DropPath", "Pool", "LU", "Activation", "Act", "ish", "Sigmoid", "Tanh",
    "Softmax", "Flatten", "Rearrange", "Lambda",
)  # fmt: skip


@needs("ModuleList|Sequential", "] *|]*|* [|*[")
def multiplied_list_shares_one_layer(code: Code) -> Iterator[Hit]:
    for call in code.calls.get("ModuleList", []) + code.calls.get("Sequential", []):
        if not code.torch(call.func) or _shares_on_purpose(code, call):
            continue
        for argument in call.args:
            product = code.value(argument.value if isinstance(argument, ast.Starred) else argument)
            if not isinstance(product, ast.BinOp) or not isinstance(product.op, ast.Mult):
                continue
            several = product.left if isinstance(product.left, ast.List) else product.right
            count = product.right if several is product.left else product.left
            if not isinstance(several, ast.List) or constant(count) in (0, 1):
                continue
            for item in several.elts:
                if _may_have_parameters(code, item):
                    yield Hit(
                        product,
                        f"{source(product)} repeats one {source(item, 40)}, so all "
                        f"{source(count, 20)} entries share its weights",
                        _as_comprehension(code, product, several, count),
                    )


def _as_comprehension(
    code: Code, product: ast.BinOp, several: ast.List, count: ast.expr
) -> tuple[Edit, ...]:
    """Rewrites [f()] * n as a comprehension, but not [layer] * n, which would repeat one layer."""
    if several is not product.left or len(several.elts) != 1:
        return ()
    if not isinstance(several.elts[0], ast.Call):
        return ()
    rest = f" for _ in range({ast.get_source_segment(code.text, count)})]"
    return (Edit(*end(several.elts[0]), *end(product), rest),)


def _shares_on_purpose(code: Code, call: ast.Call) -> bool:
    around: list[ast.AST] = [*code.conditions(call)]
    if isinstance(statement := code.statement(call), ast.Assign):
        around += statement.targets
    return any(
        word in name.lower()
        for part in around
        for name in names(part)
        for word in ("share", "tie", "recur")
    )


def _may_have_parameters(code: Code, node: ast.AST) -> bool:
    """True unless the node creates a module that is known to lack parameters."""
    value = code.value(node)
    if not isinstance(value, ast.Call):
        return False
    if code.torch(value.func):
        return has_parameters(code, value)
    name = last_name(value.func)
    for owner in classes(code, name):
        calls = [call for call in ast.walk(owner) if isinstance(call, ast.Call)]
        if is_direct_module(code, owner) and not any(
            last_name(call.func)[:1].isupper() or "register" in last_name(call.func)
            for call in calls
        ):
            return False
    return name[:1].isupper() and not any(word in name for word in BARE)
