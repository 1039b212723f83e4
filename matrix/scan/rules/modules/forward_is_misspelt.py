from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, names
from ...training import is_fragment
from .. import needs
from .shared import is_called, is_typo, lacks


@needs("def ")
def forward_is_misspelt(code: Code) -> Iterator[Hit]:
    for node in code.all(ast.FunctionDef):
        if node.name == "Forward" or (is_typo(node.name, "forward") and node.name.isalpha()):
            if not is_called(code, node) and (
                is_fragment(code) or lacks(code, code.parent[node], "forward")
            ):
                yield Hit(node, f"calling the module runs forward(), not {node.name}()")
        elif node.name == "forward" and node in code.parent:
            function = code.parent[node]
            if (
                isinstance(function, ast.FunctionDef)
                and function.name == "__init__"
                and lacks(code, code.parent[function], "forward")
                and "forward" not in names(function)
            ):
                yield Hit(
                    node, "forward() is defined inside __init__(), so the class has no forward()"
                )
