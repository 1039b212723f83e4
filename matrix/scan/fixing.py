"""Applies the edits of findings to files, keeping every other byte."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from tempfile import NamedTemporaryFile

from ..printing import printable
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
    left = Counter(one.id for one in known if one not in done)
    if not Counter(one.id for one in _found(after, rules, path)) <= left:
        raise NotFixed(f"{path}: something would still be found in it, or anew")
    try:
        return data, after.replace("\n", newline).encode(encoding), done
    except UnicodeEncodeError as error:
        raise NotFixed(f"{path}: {error}") from None


def applied(text: str, findings: Iterable[Finding]) -> tuple[str, list[Finding]]:
    """The text with the edits made that do not touch each other, and whose they are.

    Two findings may have one edit: it is made once.
    """
    made: set[Edit] = set()
    done: list[Finding] = []
    for finding in findings:
        new = set(finding.edits) - made
        both = made | new
        if (
            finding.edits
            and not any(_touch(one, other) for one in new for other in made)
            and files.is_python(edited(text, both))
        ):
            made = both
            done.append(finding)
    return edited(text, made), done


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
    if name == printable(name) and '"' not in name and "\\" not in name:
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
        raise NotFixed(f"{path}: {error or 'it takes too long'}") from None


def _touch(one: Edit, other: Edit) -> bool:
    return one[:2] <= other[2:4] and other[:2] <= one[2:4]
