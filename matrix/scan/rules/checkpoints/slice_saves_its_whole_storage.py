from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, constant, path, source
from ...training import is_fragment
from .. import needs
from .shared import torch_saves


@needs("torch.save(", "[")
def slice_saves_its_whole_storage(code: Code) -> Iterator[Hit]:
    for call in torch_saves(code):
        if not call.args:
            continue
        part = code.value(call.args[0])
        if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Slice):
            is_tensor = is_fragment(code) or _is_a_tensor(code, part.value)
            if path(part.value) and is_tensor and constant(part.slice.step) is None:
                yield Hit(
                    call,
                    f"{source(part, 40)} shares the storage of {path(part.value)}, so the whole "
                    "storage is written",
                )


def _is_a_tensor(code: Code, node: ast.expr) -> bool:
    value = code.value(node)
    made = ("zeros", "randn", "rand", "cat", "stack", "tensor", "from_numpy", "empty", "load")
    return isinstance(value, ast.Call) and code.torch(value.func) in made
