from __future__ import annotations

import ast
from collections.abc import Iterator

from ...code import Code, Hit, last_name, path, place, source
from .. import needs
from .shared import splits


@needs("random_split", ".dataset.")
def transform_of_one_split_changes_both(code: Code) -> Iterator[Hit]:
    for split, parts in splits(code):
        for assignment in code.within(code.function(split), ast.Assign):
            target = assignment.targets[0]
            owner = target.value if isinstance(target, ast.Attribute) else None
            if (
                place(assignment) > place(split)
                and isinstance(owner, ast.Attribute)
                and owner.attr == "dataset"
                and path(owner.value) in parts
                and _is_about_rows(target.attr)
                and last_name(getattr(assignment.value, "func", assignment))
                != "Normalize"  # intended for all parts
                and not any(_has_its_own(code, split, part) for part in parts)
            ):
                yield Hit(
                    assignment,
                    f"all parts of the split share {source(owner)}, so this assignment changes "
                    f"{' and '.join(part for part in parts if part != '_')}",
                )


def _is_about_rows(name: str) -> bool:
    return any(part in name for part in ("transform", "augment")) or name in ("train", "mode")


def _has_its_own(code: Code, split: ast.Call, part: str) -> bool:
    """True if a part is assigned its own dataset."""
    return any(
        path(target) == f"{part}.dataset"
        for assignment in code.within(code.function(split), ast.Assign)
        for target in assignment.targets
    )
