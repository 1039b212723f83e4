"""Helpers for datasets, loaders, samplers and copies between devices."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, path


def splits(code: Code) -> Iterator[tuple[ast.Call, list[str]]]:
    """Yields the calls to random_split(), each with the names of its parts."""
    for call in code.calls.get("random_split", ()):
        above = code.parent[call]
        if code.torch(call.func) and isinstance(above, ast.Assign):
            target = above.targets[0]
            if isinstance(target, (ast.Tuple, ast.List)):
                parts = [
                    element.value if isinstance(element, ast.Starred) else element
                    for element in target.elts
                ]
                yield call, [path(part) for part in parts]
