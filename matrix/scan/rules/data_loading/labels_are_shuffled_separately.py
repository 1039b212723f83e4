from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path
from .. import needs


@needs("randperm(|permutation(|shuffle(")
def labels_are_shuffled_separately(code: Code) -> Iterator[Hit]:
    for statements in _blocks(code):
        before: str = ""
        for statement in statements:
            name = _shuffled(code, statement)
            if name and before and name != before and _is_a_pair(before, name):
                yield Hit(
                    statement,
                    f"{before} and {name} are shuffled in different orders, so their rows no "
                    "longer match",
                )
            before = name


def _blocks(code: Code) -> Iterator[list[ast.stmt]]:
    seen: set[int] = set()
    for statement in (*code.all(ast.Assign), *code.all(ast.Expr)):
        block = code.block(statement) if statement in code.parent else []
        if id(block) not in seen and len(block) > 1:
            seen.add(id(block))
            yield block


def _shuffled(code: Code, statement: ast.stmt) -> str:
    """The name in `x = x[torch.randperm(len(x))]` or `np.random.shuffle(x)`, or ""."""
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Subscript):
        name, part = path(statement.targets[0]), statement.value
        drawn = part.slice
        if path(part.value) == name and isinstance(drawn, ast.Call):
            return name if last_name(drawn.func) in ("randperm", "permutation") else ""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        call = statement.value
        if code.full(call.func) in ("numpy.random.shuffle", "random.shuffle") and call.args:
            return path(call.args[0])
    return ""


def _is_a_pair(first: str, second: str) -> bool:
    """True if one name suggests inputs and the other labels."""
    labels = ("y", "label", "target", "t_")
    inputs = ("x", "image", "data", "input", "feature", "img")

    def is_one(name: str, words: tuple[str, ...]) -> bool:
        return any(name.lower().startswith(word) for word in words)

    return (is_one(first, inputs) and is_one(second, labels)) or (
        is_one(first, labels) and is_one(second, inputs)
    )
