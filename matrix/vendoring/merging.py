"""Merges upstream's changes into copies that may have been edited."""

from __future__ import annotations

import itertools
import os
import re
from dataclasses import dataclass
from pathlib import Path

import merge3

from .copies import KEPT, absolute, lines_of, read
from .originals import version
from .writing import leads_out, locked, render, write


@dataclass(frozen=True)
class Update:
    """The result of an update."""

    conflicts: dict[Path, int]  # updated file -> its number of conflicts
    problems: list[str]  # one line for each copy that was left unchanged
    kept: Path  # the folder with the previous texts


def update(folder: Path) -> Update:
    """Merges upstream's changes into every outdated copy.

    This is a three-way merge. If both sides changed the same lines, the file contains both versions
    between git's conflict markers. A copy that cannot be updated is reported, and the other copies
    are still updated.
    """
    read(folder)  # raises if there is nothing to update, before any file is written
    home = _home(folder)
    with locked(home):
        copies, problems = read(folder)
        files: dict[Path, bytes] = {}
        bases, conflicts = [], {}
        for copy in copies:
            if problem := copy.problem or (copy.moved and leads_out(copy.path, folder)):
                problems.append(problem)
                continue
            bases.append(copy.base)  # written again, in case it was lost or has an old name
            if copy.theirs is not None and copy.moved:
                bases.append(copy.theirs)
                merged, conflicts[copy.path] = _merge(copy.base, copy.mine, copy.theirs)
                files[_before(copy.path, home, files)] = copy.raw.encode()
                files[copy.path] = render(copy.origin, copy.theirs, merged, copy)
        write(home, files, bases, [copy.path for copy in copies])
    return Update(conflicts, problems, home / KEPT)


def _home(folder: Path) -> Path:
    """The folder that contains .torch-repros, which is this folder or, for tests, its parent."""
    above = absolute(folder).parent
    return above if not (folder / KEPT).is_dir() and (above / KEPT).is_dir() else folder


def _before(path: Path, home: Path, taken: dict[Path, bytes]) -> Path:
    """An unused name for the previous text. Older files may have the only clean copy of an edit."""
    names = (home / KEPT / f"{path.name}.{number}.before" for number in itertools.count(1))
    return next(name for name in names if name not in taken and not os.path.lexists(name))


def _merge(base: str, mine: str, theirs: str) -> tuple[str, int]:
    """Returns (merged text, number of conflicts)."""
    # If the last line had no line end, it would run into the marker that follows it.
    lines = [lines_of(re.sub(r"(?<=[^\n])\Z", "\n", text)) for text in (base, mine, theirs)]
    merge = merge3.Merge3(lines[0], lines[1], lines[2])
    merged = "".join(merge.merge_lines(name_a="yours", name_b=f"torch-repros {version()}"))
    return merged, sum(group[0] == "conflict" for group in merge.merge_groups())
