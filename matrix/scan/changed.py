"""What a branch has changed, by git."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

from .scanning import Finding

_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
Lines = dict[str, "list[range] | None"]  # real path -> the lines that changed; None: all are new


class GitError(Exception):
    """What git said."""


def since(base: str, folder: Path) -> Lines:
    """The lines that differ from where this branch left `base`, uncommitted ones included."""
    top = Path(_git(folder, "rev-parse", "--show-toplevel").rstrip("\n"))
    if base.startswith("-"):
        raise GitError(f"{base!r} is not a commit")
    fork = _git(top, "merge-base", base, "HEAD").strip()
    text = _git(
        top, "-c", "core.quotePath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff",
        "--no-textconv", "--no-prefix", "--no-renames", fork, "--",
    )  # fmt: skip
    changed: Lines = {}
    lines: list[range] = []
    left = 0  # lines of this hunk, which may look like anything
    for line in text.split("\n"):
        if left and line.startswith(("+", "-")):
            left -= 1
        elif line.startswith("+++ "):
            lines, name = [], line[4:].rstrip("\t")
            if name.startswith('"'):  # of a quote or a control character, as C writes them
                name = ast.literal_eval(name)
            changed[os.path.realpath(top / name)] = lines
        elif found := _HUNK.match(line):
            gone, first, count = int(found[1] or 1), int(found[2]), int(found[3] or 1)
            lines.append(range(first, first + count))
            left = gone + count
    others = _git(top, "ls-files", "--others", "--exclude-standard", "-z")
    changed.update({os.path.realpath(top / name): None for name in others.split("\0") if name})
    return changed


def only(findings: Iterable[Finding], changed: Lines) -> list[Finding]:
    """Those that touch a changed line. In a notebook all count: its lines are those of JSON."""
    kept = []
    for one in findings:
        real = os.path.realpath(one.path)
        if real in changed:
            lines = changed[real]
            if (
                lines is None
                or one.cell
                or any(part.start <= one.end_line and one.line < part.stop for part in lines)
            ):
                kept.append(one)
    return kept


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="surrogateescape",
        )
    except OSError as error:
        raise GitError(f"cannot run git: {error.strerror}") from None
    if done.returncode:
        raise GitError(done.stderr.strip().partition("\n")[0] or f"git {arguments[0]} failed")
    return done.stdout
