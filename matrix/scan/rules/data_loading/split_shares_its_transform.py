from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, path, source
from .. import needs
from .shared import splits


@needs("random_split", "transform")
def split_shares_its_transform(code: Code) -> Iterator[Hit]:
    for split, parts in splits(code):
        dataset = code.value(argument(split, 0, "dataset"))
        transform = argument(dataset, -1, "transform") if isinstance(dataset, ast.Call) else None
        changed = [
            attribute
            for attribute in code.within(code.function(split), ast.Attribute)
            if attribute.attr in ("dataset", "indices") and path(attribute.value) in parts
        ]
        used = [part for part in parts if part != "_"]
        if transform is not None and len(used) > 1 and not changed and _augments(code, transform):
            yield Hit(
                split,
                f"{' and '.join(used)} share one dataset, so {source(transform, 40)} is applied to "
                "both",
            )


def _augments(code: Code, transform: ast.expr) -> bool:
    """True if the transform changes rows randomly, judging by its parts or its name."""
    value = code.value(transform)
    if isinstance(value, ast.Call):
        return any(
            isinstance(part, ast.Call)
            and (last_name(part.func).startswith("Random") or last_name(part.func) == "ColorJitter")
            for part in ast.walk(value)
        )
    return "augment" in last_name(transform).lower()
