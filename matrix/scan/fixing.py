"""Applies the edits of findings to files, keeping every other byte."""

from __future__ import annotations

import difflib
import os
from bisect import bisect, insort
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

from ..printing import printable_line
from . import files, scanning
from .code import Edit, TooLong, edited
from .scanning import Finding


class NotFixed(Exception):
    """Why a file is left as it is."""


def fixed(
    path: Path, findings: list[Finding], rules: list[scanning.Rule]
) -> tuple[bytes, bytes, list[Finding]]:
    """A file before and after, and the findings that were fixed. Raises NotFixed.

    Edits that touch each other's text are left for the next call.
    """
    try:
        data = path.read_bytes()
        text, encoding = files.decoded(data)
    except (OSError, files.Unreadable) as error:
        raise NotFixed(f"{path}: {error}") from None
    newline = "\r\n" if "\r\n" in text else "\n"
    if text.replace(newline, "").count("\n") or "\r" in text.replace("\r\n", ""):
        raise NotFixed(f"{path}: its lines end in different ways")
    before = text.replace(newline, "\n")
    known = _found(before, rules, path)
    if not set(findings) <= set(known):
        raise NotFixed(f"{path}: it has changed since it was read")
    after, done = applied(before, findings)
    left = Counter(finding.id for finding in set(known).difference(done))
    if not Counter(finding.id for finding in _found(after, rules, path)) <= left:
        raise NotFixed(f"{path}: something would still be found in it, or anew")
    try:
        return data, after.replace("\n", newline).encode(encoding), done
    except UnicodeEncodeError as error:
        raise NotFixed(f"{path}: {error}") from None


def applied(text: str, findings: Iterable[Finding]) -> tuple[str, list[Finding]]:
    """The text with the edits made that do not touch each other, and whose they are.

    Two findings may have one edit: it is made once.
    """
    edits: list[Edit] = []  # in the order of their places
    apart: list[Finding] = []
    for finding in findings:
        near = {edit: _neighbours(edits, edit) for edit in finding.edits}
        new = [edit for edit in near if edit not in near[edit]]
        if near and not any(_touch(edit, other) for edit in new for other in near[edit]):
            apart.append(finding)
            for edit in new:
                insort(edits, edit)
    done = _together(text, [], apart)
    return edited(text, _edits(done)), done


def _together(text: str, done: list[Finding], more: list[Finding]) -> list[Finding]:
    """Those of both whose edits leave Python when they are made together: most often all."""
    if not more or files.is_python(edited(text, _edits([*done, *more]))):
        return [*done, *more]
    if len(more) == 1:
        return done
    half = len(more) // 2
    return _together(text, _together(text, done, more[:half]), more[half:])


def _edits(findings: list[Finding]) -> set[Edit]:
    return {edit for finding in findings for edit in finding.edits}


def write(path: Path, data: bytes) -> None:
    """Whole or not at all; the file keeps its permissions. Raises OSError and NotFixed."""
    mode = path.stat().st_mode
    if not mode & 0o222:
        raise NotFixed(f"{path}: it is read-only")
    with NamedTemporaryFile(dir=path.resolve().parent, prefix=".", delete=False) as file:
        try:
            file.write(data)
            file.close()
            os.chmod(file.name, mode)
            os.replace(file.name, path.resolve())
        except OSError:
            os.unlink(file.name)
            raise


def diff(path: Path, before: bytes, after: bytes) -> bytes:
    """As `git apply` takes it."""
    old, new = (data.splitlines(True) for data in (before, after))  # at b"\n" and b"\r" alone
    name = path.as_posix().lstrip("/")
    names = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    found = difflib.diff_bytes(difflib.unified_diff, old, new, *names)
    return b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        for line in found
    )


def _quoted(name: str) -> bytes:
    """The name, between quotes and with octal escapes where a patch needs them."""
    if name == printable_line(name) and '"' not in name and "\\" not in name:
        return name.encode()
    return b'"%b"' % b"".join(
        b"\\%03o" % byte if byte in b'"\\' or not 32 <= byte < 127 else bytes([byte])
        for byte in os.fsencode(name)
    )


def _found(text: str, rules: list[scanning.Rule], path: Path) -> list[Finding]:
    try:
        return scanning.scan_text(text, rules, path)
    except (
        SyntaxError,
        ValueError,
        files.Unreadable,
        scanning.RuleError,
        RecursionError,
        TooLong,
    ) as error:
        raise NotFixed(f"{path}: {str(error) or 'checking it takes too long'}") from None


def _neighbours(edits: list[Edit], edit: Edit) -> list[Edit]:
    """Of edits in order, the two between which it belongs; of these it may be the first."""
    at = bisect(edits, edit)
    return edits[max(0, at - 1) : at + 1]


def _touch(one: Edit, other: Edit) -> bool:
    return one[:2] <= other[2:4] and other[:2] <= one[2:4]
