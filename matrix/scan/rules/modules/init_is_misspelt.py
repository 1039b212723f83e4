from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, path
from ...training import is_fragment
from .. import needs
from .shared import is_called, is_typo, lacks


@needs("def _", "self.")
def init_is_misspelt(code: Code) -> Iterator[Hit]:
    for node in code.all(ast.FunctionDef):
        owner = code.parent[node]
        inner = node.name.strip("_")
        if (
            node.name.startswith("_")
            and node.name.endswith("_")
            and node.name != "__init__"
            and (inner == "init" or (is_typo(inner, "init") and node.name == f"__{inner}__"))
            and not is_called(code, node)
            and any(
                path(target).startswith("self.")
                for assignment in code.within(node, ast.Assign)
                for target in assignment.targets
            )
            and (is_fragment(code) or lacks(code, owner, "__init__"))
        ):
            yield Hit(node, f"Python never calls {node.name}(), so only Module.__init__() runs")
