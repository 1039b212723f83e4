from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, argument, last_name, path, source
from .. import needs
from .shared import splits


@needs("random_split", "transform")
def split_shares_its_transform(code: Code) -> Iterator[Hit]:
    for split, parts in splits(code):
        made = code.value(argument(split, 0, "dataset"))
        given = argument(made, -1, "transform") if isinstance(made, ast.Call) else None
        changed = [
            one
            for one in code.within(code.function(split), ast.Attribute)
            if one.attr in ("dataset", "indices") and path(one.value) in parts
        ]
        used = [part for part in parts if part != "_"]
        if given is not None and len(used) > 1 and not changed and _augments(code, given):
            yield Hit(
                split,
                f"{' and '.join(used)} share one dataset, so {source(given, 40)} is applied to "
                "both",
            )


def _augments(code: Code, transform: ast.expr) -> bool:
    """Whether it changes rows at random: by what it is made of, else by its name."""
    value = code.value(transform)
    if isinstance(value, ast.Call):
        return any(
            isinstance(one, ast.Call)
            and (last_name(one.func).startswith("Random") or last_name(one.func) == "ColorJitter")
            for one in ast.walk(value)
        )
    return "augment" in last_name(transform).lower()
