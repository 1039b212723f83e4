"""Reads copies: their headers, your changes, and upstream's changes."""

from __future__ import annotations

import ast
import contextlib
import difflib
import os
import re
from dataclasses import dataclass
from pathlib import Path

from .originals import digest, known, known_origin, normalised, read_text, upstream, version

KEPT = ".torch-repros"
COPIES = "copies.txt"
BASE_ENDINGS = (".orig", ".py")  # 0.1.0 wrote ".py" files, which formatters changed
HEADER_WITHIN = 20  # lines; the header may follow a byte order mark, an encoding or a license
HEADER_WITHIN_BYTES = 1 << 16
HEADER_PATTERN = re.compile(
    r"(?:^|(?<=\ufeff))# Vendored from torch-repros (?P<version>\S+): (?P<origin>[^\n]+?)[ \t]*\n"
    r"# Copyright \(c\) \d+, the torch-repros authors\. "
    r"SPDX-License-Identifier: BSD-3-Clause[ \t]*\n"
    r"# sha256 of what follows: (?P<sha>[0-9a-f]{64})[ \t]*\n",
    re.M,
)
# The markers of an unresolved conflict. A "=======" below a title of the same length is a heading,
# which must not block updates. Markers that this pattern misses are syntax errors, except in
# strings.
CONFLICT_PATTERN = re.compile(r"^(?:(?:<{7}|\|{7}|>{7})(?: |$)|(?<!^\w[\w ]{5}\w\n)={7}$)", re.M)
_UNNEEDED = re.compile(r"^Not needed from (torch \d+\.\d+ on: .+)$", re.M)


class VendorError(Exception):
    """The operation failed, and partial writes were undone. The message lists the problems."""


@dataclass(frozen=True)
class Copy:
    """One vendored file."""

    path: Path
    origin: str  # the upstream path, such as "reference_fixes/amp.py"
    version: str  # the version of torch-repros that created the copy
    sha: str  # the sha256 of the original upstream text
    raw: str  # the complete text, with its original line ends
    above: str  # the text above the header, with \n as line ends
    mine: str  # the text below the header, with \n as line ends
    theirs: str | None  # upstream's current text, or None if upstream removed the file

    @property
    def edited(self) -> bool:
        return digest(self.mine) != self.sha

    @property
    def moved(self) -> bool:
        return self.theirs is not None and digest(self.theirs) != self.sha

    @property
    def newer(self) -> bool:
        """True if this revision does not know the text, which must be from a later revision."""
        return self.sha not in known() and (self.theirs is None or self.moved)

    @property
    def marker(self) -> int:
        """The line number of the first conflict marker, or 0 if there is none."""
        text = normalised(self.raw)
        match = CONFLICT_PATTERN.search(text)
        return text.count("\n", 0, match.start()) + 1 if match else 0

    @property
    def state(self) -> str:
        if self.marker:
            return "conflicts to resolve"
        if self.newer:
            return "newer than this tool" + (", you edited" if self.edited else "")
        if self.theirs is None:
            return "removed upstream" + (", you edited" if self.edited else "")
        if self.edited:
            return "both" if self.moved else "you edited"
        return "upstream moved on" if self.moved else "unchanged"

    @property
    def problem(self) -> str:
        """The reason why upstream's changes cannot be merged, or ""."""
        if self.marker:
            return (
                f"{self.path}: line {self.marker} is a conflict marker; "
                "resolve the conflict before the next update"
            )
        if self.newer:
            return (
                f"{self.path}: is from torch-repros {self.version}, "
                f"whose text {version()} does not know: update the tool"
            )
        try:
            self.base  # noqa: B018
        except VendorError as error:
            return str(error)
        return ""

    @property
    def unneeded(self) -> list[str]:
        """The functions that newer torch versions make unnecessary, according to docstrings."""
        try:
            nodes = ast.parse(self.mine).body
        except (SyntaxError, ValueError):  # the user's edits may not be valid Python
            return []
        return [
            f"{node.name}() is not needed from {match[1]}"
            for node in nodes
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and (match := _UNNEEDED.search(ast.get_docstring(node) or ""))
        ]

    @property
    def base(self) -> str:
        """The original upstream text. Raises VendorError if it cannot be found."""
        if not self.edited:
            return self.mine
        if self.theirs is not None and not self.moved:
            return self.theirs
        # The copy's folder, its parent (for a vendored test), and one more level for moved folders.
        homes = absolute(self.path).parents[:3]
        for original in (
            home / KEPT / f"{self.sha}{end}" for home in homes for end in BASE_ENDINGS
        ):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                text = read_text(original)
                if digest(text) == self.sha:
                    return text
        raise VendorError(
            f"{self.path}: its original text (torch-repros {self.version}) is missing or "
            f"damaged: restore {KEPT}/{self.sha}.orig from version control, or compare by hand"
        )


def render_header(origin: str, text: str) -> str:
    return (
        f"# Vendored from torch-repros {version()}: {origin}\n"
        "# Copyright (c) 2026, the torch-repros authors. SPDX-License-Identifier: BSD-3-Clause\n"
        f"# sha256 of what follows: {digest(text)}\n"
    )


def read(folder: Path) -> tuple[list[Copy], list[str]]:
    """Returns all readable copies in the folder, and one line per problem in the other copies.

    Raises VendorError if there are no copies.
    """
    copies, problems = [], []
    recorded = _recorded(folder)
    for path in sorted([*folder.glob("*.py"), *folder.glob("tests/*.py")]):
        try:
            copy = read_copy(path, absolute(path) in recorded)
        except VendorError as error:
            problems.append(str(error))
        else:
            copies += [copy] if copy else []
    if not copies and not problems:
        hint = f"`torch-repros vendor FAMILY --into {folder}` creates some"
        raise VendorError(f"{folder}: no vendored files here; {hint}")
    return copies, problems


def read_copy(path: Path, recorded: bool = False) -> Copy | None:
    """Returns the copy, or None for a file that has no header and is not recorded.

    Raises VendorError for a copy that cannot be identified.
    """
    try:
        if not path.is_file():
            raise OSError(0, "not a file")
        with path.open("rb") as file:
            content = file.read(HEADER_WITHIN_BYTES)
            if _header(content):  # other files may be large, so they are not read completely
                content += file.read()
    except OSError as error:
        if not recorded:
            return None
        raise VendorError(f"{path}: cannot be read: {error.strerror}") from None
    match = _header(content)
    if match is None:
        if not recorded:
            return None
        raise VendorError(
            f"{path}: the torch-repros header (its first three lines) is missing or damaged; "
            f"restore it from version control, or, if the file is your own now, remove its line "
            f"from {KEPT}/{COPIES}"
        )
    try:
        raw = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise VendorError(f"{path}: not UTF-8 (byte {error.start}); convert it") from None
    origin = known_origin(match["origin"])
    if origin is None:
        raise VendorError(
            f"{path}: its header names {match['origin']!r}, which is not a file that torch-repros "
            "vendors (reference_fixes/<name>.py, tests/fixes/test_<name>.py)"
        )
    above, mine = match.string[: match.start()], match.string[match.end() :]
    return Copy(path, origin, match["version"], match["sha"], raw, above, mine, upstream(origin))


def _header(content: bytes) -> re.Match[str] | None:
    text = normalised(content.decode("utf-8", "replace"))
    match = HEADER_PATTERN.search(text)
    return match if match and text.count("\n", 0, match.start()) < HEADER_WITHIN else None


def _recorded(folder: Path) -> set[Path]:
    """The files that were vendored into the folder, its tests/ folder, or its parent."""
    folder = absolute(folder)
    homes = (folder / "tests", folder, folder.parent)
    return {home / name for home in homes for name in listed(home)}


def absolute(path: Path) -> Path:
    """The absolute path without "..", so that its parents are correct. Links are not followed."""
    return Path(os.path.abspath(path))


def listed(home: Path) -> list[str]:
    try:
        return normalised(os.fsdecode((home / KEPT / COPIES).read_bytes())).split("\n")
    except OSError:
        return []


def lines_of(text: str) -> list[str]:
    """The lines with their line ends. splitlines() also splits at form feeds and lone \\r."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def differences(copy: Copy) -> tuple[str, str]:
    """Returns (your edits, upstream's edits), both as diffs from the original text."""
    base = lines_of(copy.base)

    def diff(after: str, name: str) -> str:
        lines = difflib.unified_diff(base, lines_of(after), f"torch-repros {copy.version}", name)
        no_newline = "\n\\ No newline at end of file\n"
        return "".join(line if line.endswith("\n") else line + no_newline for line in lines)

    theirs = diff(copy.theirs, f"torch-repros {version()}") if copy.theirs is not None else ""
    return diff(copy.mine, "yours"), theirs
