"""Applies the edits of findings to files, keeping every other byte."""

from __future__ import annotations

import ast
import difflib
import os
import tokenize
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile

from .code import Edit
from .scanning import Finding


class NotFixed(Exception):
    """Why a file is left as it is."""


def fixed(path: Path, findings: Iterable[Finding]) -> tuple[bytes, bytes, list[Finding]]:
    """A file before and after, and the findings that were fixed. Raises NotFixed.

    Edits that touch each other's text are left for the next call.
    """
    try:
        before = path.read_bytes()
        encoding, _ = tokenize.detect_encoding(BytesIO(before).readline)
        text = before.decode(encoding)
    except (OSError, SyntaxError, UnicodeDecodeError) as error:
        raise NotFixed(f"{path}: {error}") from None
    newline = "\r\n" if "\r\n" in text else "\n"
    if text.replace(newline, "").count("\n") or "\r" in text.replace("\r\n", ""):
        raise NotFixed(f"{path}: its lines end in different ways")
    lines = text.split(newline)
    done: list[Finding] = []
    taken: list[tuple[tuple[int, int], tuple[int, int]]] = []
    for finding in sorted(findings, reverse=True):
        spans = [((one.line, one.column), (one.end_line, one.end_column)) for one in finding.edits]
        if finding.edits and not any(_touch(span, other) for span in spans for other in taken):
            for edit in sorted(finding.edits, reverse=True):
                _apply(lines, edit)
            taken += spans
            done.append(finding)
    after = newline.join(lines)
    try:
        ast.parse(after.replace(newline, "\n"))
    except SyntaxError as error:
        raise NotFixed(f"{path}: the edit would break it in line {error.lineno}") from None
    return before, after.encode(encoding), done


def write(path: Path, data: bytes) -> None:
    """Whole or not at all; the file keeps its permissions."""
    with NamedTemporaryFile(dir=path.resolve().parent, prefix=".", delete=False) as file:
        file.write(data)
    os.chmod(file.name, path.stat().st_mode)
    os.replace(file.name, path.resolve())


def diff(path: Path, before: bytes, after: bytes) -> str:
    old, new = (data.decode("utf-8", "replace").splitlines(True) for data in (before, after))
    name = path.as_posix().lstrip("/")
    found = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in found)


def _touch(
    one: tuple[tuple[int, int], tuple[int, int]], other: tuple[tuple[int, int], tuple[int, int]]
) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def _apply(lines: list[str], edit: Edit) -> None:
    first = lines[edit.line - 1].encode()[: edit.column].decode()
    last = lines[edit.end_line - 1].encode()[edit.end_column :].decode()
    lines[edit.line - 1 : edit.end_line] = (first + edit.text + last).split("\n")
