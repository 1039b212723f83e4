from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, path, source
from ...training import is_fragment
from .. import needs

NORMS = ("LayerNorm", "BatchNorm1d", "BatchNorm2d", "GroupNorm", "RMSNorm")


@needs("LayerNorm.weight", "bias")
def no_decay_names_miss_the_norms(code: Code) -> Iterator[Hit]:
    for names in code.all(ast.List):
        texts = [constant(element) for element in names.elts]
        if "LayerNorm.weight" not in texts or "bias" not in texts or _is_about_norms(texts):
            continue
        missed = _missed(code)
        if missed or is_fragment(code):
            example = f", such as {missed}" if missed else ""
            yield Hit(names, f"{source(names)} misses norms with other names{example}")


def _is_about_norms(texts: list[object]) -> bool:
    return any("norm" in str(text) or str(text).startswith("ln") for text in texts)


def _missed(code: Code) -> str:
    """A norm of this file whose name the list does not contain, or ""."""
    for assignment in code.all(ast.Assign):
        name, value = path(assignment.targets[0]), assignment.value
        made = isinstance(value, ast.Call) and code.torch(value.func) in NORMS
        if made and name.startswith("self.") and not name.endswith("LayerNorm"):
            return name
    return ""
