"""Which files are read, and the Python in them."""

from __future__ import annotations

import fnmatch
import io
import json
import os
import re
import stat
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

LARGEST = 2**20  # bytes; a larger file was written by a program
NOTEBOOK = 16 * 2**20  # bytes; most of a notebook is pictures
ENDINGS = (".py", ".ipynb")
# Folders that hold other people's code, or copies of this one's.
PASSED = {"__pycache__", "build", "dist", "node_modules", "site-packages", "dist-packages"}
_MAGIC = re.compile(r"^(\s*)(?:[%!?]|.*\?\s*$)")


class Unreadable(Exception):
    """Why a file is passed over."""


class Cell(NamedTuple):
    """A line of a notebook."""

    number: int  # of the cell, from 1
    line: int  # in the cell, from 1


class Source(NamedTuple):
    text: str
    cells: list[Cell]  # of each line of a notebook; empty for a file of Python


def find(paths: list[Path], exclude: tuple[str, ...] = ()) -> Iterator[Path]:
    """The files that are named, and those of Python in the folders that are named, sorted.

    Hidden folders, virtual environments and installed packages are left out, and what `exclude`
    matches: a glob of the path, or of one of its parts.
    """
    seen: set[str] = set()
    for path in paths:
        for one in _walk(path) if path.is_dir() else [path]:
            real = os.path.realpath(one)
            if real not in seen and not _excluded(one, exclude):
                seen.add(real)
                yield one


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


def _excluded(path: Path, patterns: tuple[str, ...]) -> bool:
    return any(
        fnmatch.fnmatch(path.as_posix(), pattern)
        or any(fnmatch.fnmatch(part, pattern) for part in path.parts)
        for pattern in patterns
    )


def read(path: Path) -> Source:
    """Raises Unreadable."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a pipe may never end
            raise Unreadable("not a regular file")
        with path.open("rb") as file:
            data = file.read(NOTEBOOK + 1)
    except OSError as error:
        raise Unreadable(error.strerror or "cannot be read") from None
    notebook = path.suffix == ".ipynb"
    if len(data) > (NOTEBOOK if notebook else LARGEST):
        raise Unreadable(f"larger than {(NOTEBOOK if notebook else LARGEST) // 2**20} MiB")
    return _notebook(data) if notebook else Source(universal(decoded(data)[0]), [])


def decoded(data: bytes) -> tuple[str, str]:
    """As Python reads a file: UTF-8, or what its first lines declare; and what that is.

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
    """With \\r\\n and \\r as Python reads them."""
    return io.StringIO(text, newline=None).read()


def _notebook(data: bytes) -> Source:
    """The code of all cells, one after the other, without the commands of IPython."""
    try:
        cells = json.loads(data)["cells"]
        found = [
            (number, cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"]))
            for number, cell in enumerate(cells, 1)
            if cell["cell_type"] == "code"
        ]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Unreadable("not a notebook of format 4") from None
    lines: list[str] = []
    places: list[Cell] = []
    for number, text in found:
        own = text.split("\n")
        if own[0].startswith("%%"):  # another language, mostly
            continue
        for at, line in enumerate(own, 1):
            lines.append(_MAGIC.sub(r"\1pass #", line) if _MAGIC.match(line) else line)
            places.append(Cell(number, at))
    return Source("\n".join(lines) + "\n", places)
