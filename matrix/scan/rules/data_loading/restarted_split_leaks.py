from __future__ import annotations

from collections.abc import Iterator

from ...code import Code, Hit, argument
from ...project import around
from ...training import is_dead, resumes
from .. import needs
from .shared import splits


@needs("random_split")
def restarted_split_leaks(code: Code) -> Iterator[Hit]:
    files = list(around(code, "import"))
    if any("seed" in file.text.lower() for file in files):
        return
    program = [file for file in files if _imports(file, code) or _imports(code, file)]
    if not any(resumes(file) for file in [code, *program]):
        return
    for call, parts in splits(code):
        used = [part for part in parts if part and set(part) != {"_"}]
        if argument(call, 2, "generator") is None and len(used) > 1 and not is_dead(code, call):
            yield Hit(
                call,
                f"a resumed run draws a different split, so {used[1]} contains rows that the "
                "model was trained on",
            )


def _imports(file: Code, other: Code) -> bool:
    """True if the file imports a name from the other file, as in `from datasets import split`."""
    stem = other.path.stem if other.path is not None else ""
    return any(origin.module.rpartition(".")[2] == stem for origin in file.origins.values())
