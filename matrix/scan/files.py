"""Finds the files to scan, and reads their Python code."""

from __future__ import annotations

import ast
import fnmatch
import io
import json
import os
import re
import stat
import sys
import tokenize
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

LARGEST = 2**20  # bytes; larger files contain generated code
NOTEBOOK = 16 * 2**20  # bytes; large notebooks consist mainly of images
ENDINGS = (".py", ".ipynb")
# Folders with third-party code, or with copies of the project's own code.
PASSED = {"__pycache__", "build", "dist", "node_modules", "site-packages", "dist-packages"}
# IPython's extensions of Python: timed statements, assignments of a command's output, and commands
# and help requests.
_TIMED = re.compile(r"^(\s*)%time(?:it)?\s+(?=[^\s-])")
_GIVEN = re.compile(r"^(\s*[\w., ]+=\s*)[%!]")
_MAGIC = re.compile(r"^(\s*)(?:[%!?]|[\w.*]+\?\??\s*$)")

_FORMATTED = re.compile(r"""\b[rR]?[fF][rR]?(["'])(?!\1)""")


class Unreadable(Exception):
    """The reason why a file is skipped."""


class Cell(NamedTuple):
    """The position of a line in a notebook."""

    number: int  # the number of the cell, from 1
    line: int  # the line in the cell, from 1


class Source(NamedTuple):
    text: str
    cells: list[Cell]  # one per line of a notebook; empty for a Python file
    odd: list[int]  # numbers of code cells that are not Python


def find(
    paths: list[Path], exclude: tuple[str, ...] = (), root: Path | None = None
) -> Iterator[Path]:
    """Yields the files in `paths`, and the Python files and notebooks in its folders, by name.

    Hidden folders, virtual environments and installed packages are skipped. The globs in `exclude`
    match a whole path or one of its parts. They apply to the given path and to the path relative to
    `root`.
    """
    seen: set[str] = set()
    for path in paths:
        for file in _walk(path) if path.is_dir() else [path]:
            real = os.path.realpath(file)
            if real not in seen and not _excluded(file, exclude, root):
                seen.add(real)
                yield file


def _walk(folder: Path) -> Iterator[Path]:
    for at, folders, files in os.walk(folder):
        here = Path(at)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith(".")
            and name not in PASSED
            and not (here / name / "pyvenv.cfg").exists()
        )
        yield from (here / name for name in sorted(files) if name.endswith(ENDINGS))


def _excluded(path: Path, patterns: tuple[str, ...], root: Path | None) -> bool:
    forms, whole = [path], path.absolute()
    if root is not None and whole.is_relative_to(root):
        forms.append(whole.relative_to(root))
    return any(
        fnmatch.fnmatch(text, pattern)
        for form in forms
        for text in (form.as_posix(), *(above.as_posix() for above in form.parents), *form.parts)
        for pattern in (pattern.rstrip("/") for pattern in patterns)
    )


def read(path: Path) -> Source:
    """Reads the Python code in a file or notebook. Raises Unreadable."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe may never end
            raise Unreadable("not a regular file")
        with path.open("rb") as file:
            data = file.read(NOTEBOOK + 1)
    except OSError as error:
        raise Unreadable(error.strerror or "cannot be read") from None
    notebook = path.suffix == ".ipynb"
    if len(data) > (NOTEBOOK if notebook else LARGEST):
        raise Unreadable(f"larger than {(NOTEBOOK if notebook else LARGEST) // 2**20} MiB")
    return _notebook(data) if notebook else Source(universal(decoded(data)[0]), [], [])


def decoded(data: bytes) -> tuple[str, str]:
    """Returns a file's text and its encoding: UTF-8, or the encoding declared in its first lines.

    Raises Unreadable.
    """
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode(encoding)
    except (SyntaxError, ValueError, LookupError):
        raise Unreadable("not in UTF-8, or in the encoding that it declares") from None
    if "\0" in text:
        raise Unreadable("not text: it has NUL characters")
    return text, encoding


def universal(text: str) -> str:
    """The text with \\r\\n and \\r converted to \\n, as in Python's text mode."""
    return io.StringIO(text, newline=None).read()


def _notebook(data: bytes) -> Source:
    """The code of all cells, in order, without IPython commands."""
    try:
        cells = json.loads(data)["cells"]
        sources = [
            (number, cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"]))
            for number, cell in enumerate(cells, 1)
            if cell["cell_type"] == "code"
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unreadable("not a notebook of format 4") from None
    if sum(len(text) for _, text in sources) > LARGEST:
        raise Unreadable(f"its code is larger than {LARGEST // 2**20} MiB")
    lines: list[str] = []
    places: list[Cell] = []
    odd: list[int] = []
    for number, text in sources:
        own = _plain(text)
        if text.strip() and not any(own) and not text.startswith("%%"):
            odd.append(number)
        lines += own
        places += [Cell(number, at) for at in range(1, len(own) + 1)]
    return Source("\n".join(lines) + "\n", places, odd)


def _plain(text: str) -> list[str]:
    """The lines of a cell as Python. Cells with syntax errors or in other languages become empty
    lines.
    """
    own = text.split("\n")
    if is_python(text):
        return own
    lines: list[str] = []
    continues = False
    for line in own:
        plain = "" if continues or line.startswith("%%") else _TIMED.sub(r"\1", line)
        plain = _MAGIC.sub(r"\1pass #", _GIVEN.sub(r"\1None #", plain))
        continues = plain != line and line.endswith("\\")
        lines.append(plain)
    other = own[0].startswith("%%") and not own[0].startswith(("%%time", "%%capture"))
    return lines if not other and is_python("\n".join(lines)) else [""] * len(own)


def parsed(text: str) -> ast.Module:
    """The syntax tree, without warnings. Raises the same exceptions as ast.parse()."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # for example, "invalid escape sequence"
        try:
            return ast.parse(text)
        except SyntaxError:
            if sys.version_info < (3, 12):
                with suppress(SyntaxError):
                    return ast.parse("\n".join(map(_with_other_quotes, text.split("\n"))))
            raise


def _with_other_quotes(line: str) -> str:
    """The line with f"{a['b']}" for f"{a["b"]}", which only Python 3.12 and newer can parse."""
    for start in list(_FORMATTED.finditer(line)):
        quote, depth = start[1], 0
        for at in range(start.end(), len(line)):
            depth += (line[at] == "{") - (line[at] == "}")
            if line[at] != quote:
                continue
            if depth <= 0:
                break
            line = line[:at] + ("'" if quote == '"' else '"') + line[at + 1 :]
    return line


def is_python(text: str) -> bool:
    try:
        parsed(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
