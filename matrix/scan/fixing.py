"""Applies the edits of findings to files, and leaves every other byte unchanged."""

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
    """The reason why a file is not changed."""


def fixed(
    path: Path, findings: list[Finding], rules: list[scanning.Rule]
) -> tuple[bytes, bytes, list[Finding]]:
    """Returns a file before and after its fixes, and the fixed findings. Raises NotFixed.

    If the edits of two findings touch, the second finding has to wait for the next call.
    """
    try:
        data = path.read_bytes()
        text, encoding = files.decoded(data)
    except (OSError, files.Unreadable) as error:
        raise NotFixed(f"{path}: {error}") from None
    newline = "\r\n" if "\r\n" in text else "\n"
    if text.replace(newline, "").count("\n") or "\r" in text.replace("\r\n", ""):
        raise NotFixed(f"{path}: its line endings are not uniform")
    before = text.replace(newline, "\n")
    findings_before = _found(before, rules, path)
    if not set(findings) <= set(findings_before):
        raise NotFixed(f"{path}: it has changed since it was read")
    after, done = applied(before, findings)
    remaining = Counter(finding.id for finding in set(findings_before).difference(done))
    if not Counter(finding.id for finding in _found(after, rules, path)) <= remaining:
        raise NotFixed(f"{path}: the fixes would not remove a finding, or would add one")
    try:
        return data, after.replace("\n", newline).encode(encoding), done
    except UnicodeEncodeError as error:
        raise NotFixed(f"{path}: {error}") from None


def applied(text: str, findings: Iterable[Finding]) -> tuple[str, list[Finding]]:
    """Returns the text after all edits that do not touch, and the findings that they fix.

    An edit that two findings share is made once.
    """
    edits: list[Edit] = []  # sorted by position
    apart: list[Finding] = []
    for finding in findings:
        near = {edit: _neighbors(edits, edit) for edit in finding.edits}
        new = [edit for edit in near if edit not in near[edit]]
        if near and not any(_touch(edit, other) for edit in new for other in near[edit]):
            apart.append(finding)
            for edit in new:
                insort(edits, edit)
    done = _together(text, [], apart)
    return edited(text, _edits(done)), done


def _together(text: str, done: list[Finding], more: list[Finding]) -> list[Finding]:
    """All findings in `done`, and those in `more` whose edits leave the code valid."""
    if not more or files.is_python(edited(text, _edits([*done, *more]))):
        return [*done, *more]
    if len(more) == 1:
        return done
    half = len(more) // 2
    return _together(text, _together(text, done, more[:half]), more[half:])


def _edits(findings: list[Finding]) -> set[Edit]:
    return {edit for finding in findings for edit in finding.edits}


def write(path: Path, data: bytes) -> None:
    """Replaces a file atomically and keeps its permissions. Raises OSError and NotFixed."""
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
    """The changes as a diff that `git apply` accepts."""
    old, new = (data.splitlines(True) for data in (before, after))  # split at b"\n" and b"\r" only
    name = path.as_posix().lstrip("/")
    names = _quoted(f"a/{name}"), _quoted(f"b/{name}")
    lines = difflib.diff_bytes(difflib.unified_diff, old, new, *names)
    return b"".join(
        line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n"
        for line in lines
    )


def _quoted(name: str) -> bytes:
    """The name as in a patch, with quotes and octal escapes if necessary."""
    if name == printable_line(name) and '"' not in name and "\\" not in name:
        return name.encode()
    return b'"%b"' % b"".join(
        b"\\%03o" % byte if byte in b'"\\#' or not 32 <= byte < 127 else bytes([byte])
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


def _neighbors(edits: list[Edit], edit: Edit) -> list[Edit]:
    """The edits directly before and after this edit. The first of them may be the edit itself."""
    at = bisect(edits, edit)
    return edits[max(0, at - 1) : at + 1]


def _touch(edit: Edit, other: Edit) -> bool:
    return edit[:2] <= other[2:4] and other[:2] <= edit[2:4]
