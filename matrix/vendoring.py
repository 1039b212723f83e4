"""Copies of reference fixes in other people's repositories: made, compared with their origin, and brought up to date.

A copy is a header of three lines and the file as it is upstream. The text that it was made from stays beside it, in
.torch-repros/<sha256>.py: with it, your edits and upstream's are told apart, and merged, without a network and for ever,
whatever became of the version.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import filelock
import merge3

from . import __version__, catalog

ROOT = catalog.ROOT
KEPT = ".torch-repros"

_HEADER = re.compile(
    r"# Vendored from torch-repros (?P<version>\S+): (?P<origin>[\w/]+\.py)\n"
    r"# Copyright \(c\) 2026, the torch-repros authors\. SPDX-License-Identifier: BSD-3-Clause\n"
    r"# sha256 of what follows: (?P<sha>[0-9a-f]{64})\n"
)


class VendorError(Exception):
    """Nothing was written, or all that had been was taken back."""


@dataclass(frozen=True)
class Copy:
    """One vendored file."""

    path: Path
    origin: str  # its path upstream, such as "reference_fixes/amp.py"
    version: str  # that it was made from
    sha: str  # of the upstream text that it was made from
    mine: str  # its text now, without the header, lines ended by \n
    theirs: str | None  # upstream's text now; None when upstream has no such file any more
    crlf: bool

    @property
    def edited(self) -> bool:
        return digest(self.mine) != self.sha

    @property
    def moved(self) -> bool:
        return self.theirs is not None and digest(self.theirs) != self.sha

    @property
    def state(self) -> str:
        if self.theirs is None:
            return "gone upstream" + (", you edited" if self.edited else "")
        return {(0, 0): "unchanged", (1, 0): "you edited", (0, 1): "upstream moved on", (1, 1): "both"}[(self.edited, self.moved)]

    @property
    def folder(self) -> Path:
        """The folder that was vendored into: the one of the fixes, not of their tests."""
        return self.path.parent.parent if self.path.parent.name == "tests" else self.path.parent

    @property
    def base(self) -> str:
        """The upstream text that it was made from. Raises VendorError when it is nowhere to be found."""
        if not self.edited:
            return self.mine
        if self.theirs is not None and not self.moved:
            return self.theirs
        kept = self.folder / KEPT / f"{self.sha}.py"
        text = _read(kept)[0] if kept.is_file() else ""
        if digest(text) != self.sha:
            raise VendorError(f"{self.path}: the text it was made from (torch-repros {self.version}) is not in {kept}: compare by hand")
        return text


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def families() -> list[str]:
    return sorted(path.stem for path in (ROOT / "reference_fixes").glob("*.py"))


def upstream(origin: str) -> str | None:
    """The text of a file of this project; a wheel keeps the tests in a folder of its own."""
    found = [path for path in (ROOT / origin, ROOT / "matrix" / "vendored" / origin) if path.is_file()]
    return _read(found[0])[0] if found else None


def _read(path: Path) -> tuple[str, bool]:
    """(text with lines ended by \\n, whether they were ended by \\r\\n): a checkout on Windows is no edit."""
    raw = path.read_bytes().decode("utf-8")
    return raw.replace("\r\n", "\n"), "\r\n" in raw


def header(origin: str, text: str) -> str:
    return (
        f"# Vendored from torch-repros {__version__}: {origin}\n"
        "# Copyright (c) 2026, the torch-repros authors. SPDX-License-Identifier: BSD-3-Clause\n"
        f"# sha256 of what follows: {digest(text)}\n"
    )


def read_copy(path: Path) -> Copy | None:
    """The copy, or None for a file that has no (whole) header and so is not known to be one."""
    text, crlf = _read(path)
    found = _HEADER.match(text)
    if found is None:
        return None
    return Copy(path, found["origin"], found["version"], found["sha"], text[found.end() :], upstream(found["origin"]), crlf)


def copies(folder: Path) -> list[Copy]:
    """Every vendored file of the folder. Raises VendorError when there is none, or when a header was damaged."""
    found, damaged = [], []
    for path in sorted([*folder.glob("*.py"), *folder.glob("tests/*.py")]):
        copy = read_copy(path)
        if copy is not None:
            found.append(copy)
        elif path.stem in families() and (folder / KEPT).is_dir():
            damaged.append(f"{path}: has no header of torch-repros (any more); its first three lines are what says where it came from")
    if damaged:
        raise VendorError("\n".join(damaged))
    if not found:
        raise VendorError(f"{folder}: no vendored files here; `torch-repros vendor FAMILY --into {folder}` makes some")
    return found


def vendor(names: list[str], folder: Path, tests: bool = False) -> list[Path]:
    """Copies the families, with their tests if wanted, into the folder, all or none; creates it. Returns the files.

    Raises VendorError for a file that is there and is not an unedited copy, and whenever a write fails.
    """
    unknown = [name for name in names if name not in families()]
    if unknown:
        raise VendorError(f"no reference fix {', '.join(map(repr, unknown))}; there are {', '.join(families())}")
    origins = {f"{name}.py": f"reference_fixes/{name}.py" for name in names}
    if tests:
        origins |= {f"tests/test_{name}.py": f"tests/test_{name}.py" for name in names} | {
            "tests/conftest.py": "matrix/vendored_conftest.py"
        }
    with _locked(folder):
        in_the_way = []
        for path in map(folder.joinpath, origins):
            copy = read_copy(path) if path.is_file() else None
            if path.exists() and (copy is None or copy.edited):
                in_the_way.append(
                    f"{path}: " + ("not a copy of ours" if copy is None else "you edited it; `torch-repros vendored --update` merges")
                )
        if in_the_way:
            raise VendorError("nothing was written\n" + "\n".join(in_the_way))
        texts = {target: upstream(origin) or "" for target, origin in origins.items()}
        _write(folder, {target: header(origins[target], text) + text for target, text in texts.items()}, list(texts.values()))
    return [folder / target for target in origins]


def update(folder: Path) -> dict[Path, int]:
    """Merges upstream's changes into every copy that upstream has left behind: {file: conflicts in it}.

    A three-way merge; where both sides changed the same lines, both stand in the file between the marks that git uses. The
    text from before is kept in .torch-repros/<file>.before.
    """
    with _locked(folder):
        files, bases, conflicts = {}, [], {}
        for copy in copies(folder):
            if not copy.moved or copy.theirs is None:
                continue
            mine, theirs = copy.mine.splitlines(True), copy.theirs.splitlines(True)
            merge = merge3.Merge3(copy.base.splitlines(True), mine, theirs)
            merged = "".join(merge.merge_lines(name_a="yours", name_b=f"torch-repros {__version__}"))
            whole = header(copy.origin, copy.theirs) + merged
            before = copy.path.read_bytes()
            files[copy.path.relative_to(folder).as_posix()] = whole.replace("\n", "\r\n") if copy.crlf else whole
            files[f"{KEPT}/{copy.path.name}.before"] = before.decode()
            bases.append(copy.theirs)
            conflicts[copy.path] = sum(group[0] == "conflict" for group in merge.merge_groups())
        _write(folder, files, bases)
    return conflicts


def differences(copy: Copy) -> tuple[str, str]:
    """(your edits, upstream's), each a diff from the text that the copy was made from."""

    def diff(after: str, name: str) -> str:
        lines = difflib.unified_diff(copy.base.splitlines(True), after.splitlines(True), f"torch-repros {copy.version}", name)
        return "".join(lines)

    return diff(copy.mine, "yours"), diff(copy.theirs, f"torch-repros {__version__}") if copy.moved and copy.theirs is not None else ""


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One writer at a time; the lock of a process that was killed is free again."""
    kept = folder / KEPT
    if kept.is_symlink():
        raise VendorError(f"{kept} is a link: it could lead out of {folder}")
    try:
        kept.mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(kept / "lock", timeout=10)
        with lock:
            yield
    except filelock.Timeout:
        raise VendorError(f"another torch-repros is writing to {folder}") from None
    except OSError as error:
        raise VendorError(f"{folder}: {error.strerror}; nothing was written") from None


def _write(folder: Path, files: dict[str, str], bases: list[str]) -> None:
    """Writes all the files, or leaves all as they were. Killed halfway, each file is whole, old or new, with its base kept."""
    # Bases first: whichever header is in place at a kill, the text it speaks of is there.
    everything = {f"{KEPT}/{digest(text)}.py": text for text in bases} | files
    staged, done = [], []
    try:
        for name, text in everything.items():
            target = folder / name
            if target.is_symlink() or (target.parent.is_symlink() and target.parent != folder):
                raise VendorError(f"{target} is a link: it could lead out of {folder}; nothing was written")
            scratch = target.with_name(f".{target.name}.{os.getpid()}.new")
            backup = target.with_name(f".{target.name}.{os.getpid()}.old")
            target.parent.mkdir(exist_ok=True)
            staged.append((target, scratch, backup))
            scratch.write_bytes(text.encode())
            if target.exists():
                _link(target, backup)
        # From here on only renames, which need no space: what fails can be taken back.
        for target, scratch, backup in staged:
            os.replace(scratch, target)
            done.append((target, backup))
    except BaseException:
        for target, backup in reversed(done):
            os.replace(backup, target) if backup.exists() else target.unlink()
        raise
    finally:
        for _, scratch, backup in staged:
            scratch.unlink(missing_ok=True)
            backup.unlink(missing_ok=True)


def _link(source: Path, target: Path) -> None:
    target.unlink(missing_ok=True)
    try:
        os.link(source, target)
    except OSError:  # a file system without hard links
        shutil.copy2(source, target)
