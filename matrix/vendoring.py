"""Copies of reference fixes in other people's repositories: made, compared with upstream, updated.

A copy is a header of three lines and the file as it is upstream. .torch-repros/ beside it keeps

    <sha256>.orig             the text that a copy was made from: with it, your edits and upstream's
                              can always be told apart and merged, offline, whatever became of the
                              version
    copies.txt                the files that were vendored, one per line
    <file>.<number>.before    the text of a copy before an update
    lock, tmp/                for one writer at a time, and what it has not finished
    .gitattributes            so that git leaves line ends alone
    .gitignore                so that git keeps the first two and ignores the last
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import hashlib
import itertools
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import filelock
import merge3
from packaging.version import InvalidVersion, Version

from . import __version__, catalog

ROOT = catalog.ROOT
KEPT = ".torch-repros"
SCRATCH = "tmp"
COPIES = "copies.txt"
SETTINGS = {
    ".gitattributes": b"* -text\n",  # git leaves their line ends alone
    # Many projects ignore *.orig, without which nothing can be merged.
    ".gitignore": f"!*.orig\n!{COPIES}\nlock\n{SCRATCH}/\n".encode(),
}
CONFTEST = "tests/fixes/vendored_conftest.py"

BASE_ENDINGS = (".orig", ".py")  # ".py" is what 0.1.0 wrote, until formatters rewrote such files
HEADER_WITHIN = 20  # lines: others may put a byte order mark, an encoding or a licence above it
HEADER_WITHIN_BYTES = 1 << 16
HEADER_PATTERN = re.compile(
    r"(?:^|(?<=\ufeff))# Vendored from torch-repros (?P<version>\S+): (?P<origin>[^\n]+?)[ \t]*\n"
    r"# Copyright \(c\) \d+, the torch-repros authors\. "
    r"SPDX-License-Identifier: BSD-3-Clause[ \t]*\n"
    r"# sha256 of what follows: (?P<sha>[0-9a-f]{64})[ \t]*\n",
    re.M,
)
# What is left of a conflict. "=======" below a title of its length is a heading, which would block
# every update; a marker that this misses is a syntax error anywhere but in a string.
CONFLICT_PATTERN = re.compile(r"^(?:(?:<{7}|\|{7}|>{7})(?: |$)|(?<!^\w[\w ]{5}\w\n)={7}$)", re.M)
# What a header may name, now and before 0.2. Whatever else it names is never read.
ORIGIN_PATTERN = re.compile(r"reference_fixes/[a-z0-9_]+\.py|tests/fixes/test_[a-z0-9_]+\.py")
OLD_TEST_PATTERN = re.compile(r"tests/(test_[a-z0-9_]+\.py)")
_UNNEEDED = re.compile(r"^Not needed from (torch \d+\.\d+ on: .+)$", re.M)
OLD_CONFTEST = "matrix/vendored_conftest.py"


class VendorError(Exception):
    """The operation failed; any partial writes were rolled back. One line per problem."""


@dataclass(frozen=True)
class Copy:
    """One vendored file."""

    path: Path
    origin: str  # its path upstream, such as "reference_fixes/amp.py"
    version: str  # that it was made from
    sha: str  # of the upstream text that it was made from
    raw: str  # all of its text, with its own line ends
    above: str  # what stands above the header, lines ended by \n
    mine: str  # what follows the header, lines ended by \n
    theirs: str | None  # upstream's text now; None when upstream has no such file any more

    @property
    def edited(self) -> bool:
        return digest(self.mine) != self.sha

    @property
    def moved(self) -> bool:
        return self.theirs is not None and digest(self.theirs) != self.sha

    @property
    def newer(self) -> bool:
        """Whether this tool is too old for it: what it calls upstream's is older than the copy."""
        if self.theirs is not None and not self.moved:
            return False
        try:
            return Version(self.version) > Version(__version__)
        except InvalidVersion:
            return False

    @property
    def marker(self) -> int:
        """The line of the file that has the first conflict marker, 0 where none has."""
        text = _normalised(self.raw)
        found = CONFLICT_PATTERN.search(text)
        return text.count("\n", 0, found.start()) + 1 if found else 0

    @property
    def state(self) -> str:
        if self.marker:
            return "conflicts to resolve"
        if self.newer:
            return "newer than this tool" + (", you edited" if self.edited else "")
        if self.theirs is None:
            return "gone upstream" + (", you edited" if self.edited else "")
        if self.edited:
            return "both" if self.moved else "you edited"
        return "upstream moved on" if self.moved else "unchanged"

    @property
    def problem(self) -> str:
        """Why nothing can be merged into it, "" when it can."""
        if self.marker:
            return (
                f"{self.path}: line {self.marker} is a conflict marker; "
                "resolve the conflict before the next update"
            )
        if self.newer:
            return (
                f"{self.path}: is from torch-repros {self.version}, and this is {__version__}: "
                "update the tool"
            )
        try:
            self.base  # noqa: B018
        except VendorError as error:
            return str(error)
        return ""

    @property
    def unneeded(self) -> list[str]:
        """What its docstrings say of the torch from which on they can be done without."""
        try:
            nodes = ast.parse(self.mine).body
        except (SyntaxError, ValueError):  # the copy's own business
            return []
        return [
            f"{node.name}() is not needed from {found[1]}"
            for node in nodes
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            and (found := _UNNEEDED.search(ast.get_docstring(node) or ""))
        ]

    @property
    def base(self) -> str:
        """The upstream text that it was made from. Raises VendorError when it cannot be found."""
        if not self.edited:
            return self.mine
        if self.theirs is not None and not self.moved:
            return self.theirs
        # Its folder, the one above for a vendored test, and one more for a folder that was moved.
        homes = _absolute(self.path).parents[:3]
        for kept in (home / KEPT / f"{self.sha}{end}" for home in homes for end in BASE_ENDINGS):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                text = _read(kept)
                if digest(text) == self.sha:
                    return text
        raise VendorError(
            f"{self.path}: the text it was made from (torch-repros {self.version}) is missing or "
            f"damaged: restore {KEPT}/{self.sha}.orig from version control, or compare by hand"
        )


@dataclass(frozen=True)
class Update:
    """What an update did."""

    conflicts: dict[Path, int]  # updated file -> conflicts in it
    problems: list[str]  # of the copies that were left as they are, one line each
    kept: Path  # the folder that holds the texts from before


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def families() -> list[str]:
    return catalog.fixes(ROOT / "reference_fixes")


def upstream(origin: str) -> str | None:
    """The text of a file of this project, None where there is no such file (any more)."""
    path = ROOT / origin
    return _read(path) if path.is_file() else None


def render_header(origin: str, text: str) -> str:
    return (
        f"# Vendored from torch-repros {__version__}: {origin}\n"
        "# Copyright (c) 2026, the torch-repros authors. SPDX-License-Identifier: BSD-3-Clause\n"
        f"# sha256 of what follows: {digest(text)}\n"
    )


# --- reading --------------------------------------------------------------------------------------


def read(folder: Path) -> tuple[list[Copy], list[str]]:
    """Every copy in the folder that can be read, and one line per problem of the others.

    Raises VendorError when there are none at all.
    """
    copies, problems = [], []
    recorded = _recorded(folder)
    for path in sorted([*folder.glob("*.py"), *folder.glob("tests/*.py")]):
        try:
            copy = read_copy(path, _absolute(path) in recorded)
        except VendorError as error:
            problems.append(str(error))
        else:
            copies += [copy] if copy else []
    if not copies and not problems:
        hint = f"`torch-repros vendor FAMILY --into {folder}` makes some"
        raise VendorError(f"{folder}: no vendored files here; {hint}")
    return copies, problems


def read_copy(path: Path, recorded: bool = False) -> Copy | None:
    """The copy; None for a file that neither has a header nor is on record, and so is not ours.

    Raises VendorError for a copy of which nothing can be told.
    """
    try:
        if not path.is_file():
            raise OSError(0, "not a file")
        with path.open("rb") as file:
            content = file.read(HEADER_WITHIN_BYTES)
            if _header(content):  # else it is not read whole: a neighbour may be of any size
                content += file.read()
    except OSError as error:
        if not recorded:
            return None
        raise VendorError(f"{path}: cannot be read: {error.strerror}") from None
    found = _header(content)
    if found is None:
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
    origin = _known_origin(found["origin"])
    if origin is None:
        raise VendorError(
            f"{path}: its header names {found['origin']!r}, which is not a file that torch-repros "
            "vendors (reference_fixes/<name>.py, tests/fixes/test_<name>.py)"
        )
    above, mine = found.string[: found.start()], found.string[found.end() :]
    return Copy(path, origin, found["version"], found["sha"], raw, above, mine, upstream(origin))


def _header(content: bytes) -> re.Match[str] | None:
    text = _normalised(content.decode("utf-8", "replace"))
    found = HEADER_PATTERN.search(text)
    return found if found and text.count("\n", 0, found.start()) < HEADER_WITHIN else None


def _known_origin(name: str) -> str | None:
    """The file of this project that a header means, by its name of today, or None."""
    if name in (CONFTEST, OLD_CONFTEST):
        return CONFTEST
    if old := OLD_TEST_PATTERN.fullmatch(name):
        return f"tests/fixes/{old[1]}"
    return name if ORIGIN_PATTERN.fullmatch(name) else None


def _recorded(folder: Path) -> set[Path]:
    """The files that were vendored into the folder, its tests/, or the folder above it."""
    folder = _absolute(folder)
    homes = (folder / "tests", folder, folder.parent)
    return {home / name for home in homes for name in _listed(home)}


def _absolute(path: Path) -> Path:
    """Without "..", whose parent is not the folder above, and without following links."""
    return Path(os.path.abspath(path))


def _listed(home: Path) -> list[str]:
    try:
        return _normalised(os.fsdecode((home / KEPT / COPIES).read_bytes())).split("\n")
    except OSError:
        return []


def _read(path: Path) -> str:
    return _normalised(path.read_bytes().decode("utf-8"))


def _normalised(text: str) -> str:
    """Lines ended by \\n: a checkout on Windows is no edit."""
    return text.replace("\r\n", "\n")


def _lines(text: str) -> list[str]:
    """With their ends. Not splitlines(), to which a form feed or a lone \\r ends a line too."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def differences(copy: Copy) -> tuple[str, str]:
    """(your edits, upstream's), each a diff from the text that the copy was made from."""
    base = _lines(copy.base)

    def diff(after: str, name: str) -> str:
        lines = difflib.unified_diff(base, _lines(after), f"torch-repros {copy.version}", name)
        no_newline = "\n\\ No newline at end of file\n"
        return "".join(line if line.endswith("\n") else line + no_newline for line in lines)

    theirs = diff(copy.theirs, f"torch-repros {__version__}") if copy.theirs is not None else ""
    return diff(copy.mine, "yours"), theirs


# --- vendoring and updating -----------------------------------------------------------------------


def vendor(names: list[str], folder: Path, tests: bool = False) -> list[Path]:
    """Copies the families, with their tests if wanted, into the folder, all or none; creates it.

    Returns the files. Raises VendorError for a fix without tests, for a file that is there and is
    not an unedited copy, and whenever a write fails.
    """
    wanted = _wanted(names, tests)
    _replaceable(folder, wanted)  # what is refused leaves nothing behind, not even the lock
    with _locked(folder):
        old = _replaceable(folder, wanted)
        files = {}
        for target, (origin, text) in wanted.items():
            files[folder / target] = _render(origin, text, text, old.get(target))
        _write(folder, files, [text for _, text in wanted.values()], list(files))
    return list(files)


def _wanted(names: list[str], tests: bool) -> dict[str, tuple[str, str]]:
    """{file in the folder: (its origin, the text there)}."""
    unknown = [name for name in names if name not in families()]
    if unknown:
        raise VendorError(
            f"no reference fix {', '.join(map(repr, unknown))}; there are {', '.join(families())}"
        )
    origins = {f"{name}.py": f"reference_fixes/{name}.py" for name in names}
    if tests:
        origins |= {f"tests/test_{name}.py": f"tests/fixes/test_{name}.py" for name in names}
        origins["tests/conftest.py"] = CONFTEST
    texts = {target: (origin, upstream(origin)) for target, origin in origins.items()}
    if missing := [origin for origin, text in texts.values() if text is None]:
        raise VendorError(
            f"nothing was written: torch-repros {__version__} has no {', '.join(missing)}; "
            "vendor without --tests"
        )
    return {target: (origin, text) for target, (origin, text) in texts.items() if text is not None}


def _replaceable(folder: Path, wanted: dict[str, tuple[str, str]]) -> dict[str, Copy]:
    """The copies that vendoring replaces. Raises VendorError for what it may not replace."""
    old: dict[str, Copy] = {}
    problems = []
    for target, (origin, _) in wanted.items():
        path = folder / target
        try:
            copy = _replaced(path, folder, origin)
        except VendorError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(f"{path}: {error.strerror}")
        else:
            old |= {target: copy} if copy else {}
    if problems:
        raise VendorError("\n".join(["nothing was written", *problems]))
    return old


def _replaced(path: Path, folder: Path, origin: str) -> Copy | None:
    """The copy that vendoring replaces, None where nothing is yet. Raises VendorError."""
    if problem := _leads_out(path, folder):
        raise VendorError(problem)
    if path.parent.exists() and not path.parent.is_dir():
        raise VendorError(f"{path.parent}: is not a folder")
    copy = read_copy(path)
    if copy is None:
        if os.path.lexists(path):
            raise VendorError(f"{path}: exists and is not a vendored copy")
    elif copy.origin != origin:
        raise VendorError(f"{path}: exists and is a copy of {copy.origin}, not of {origin}")
    elif copy.newer:
        raise VendorError(copy.problem)
    elif copy.edited:
        raise VendorError(f"{path}: you edited it; `torch-repros vendored --update` merges")
    return copy


def update(folder: Path) -> Update:
    """Merges upstream's changes into every copy that upstream has left behind.

    A three-way merge; where both sides changed the same lines, both are in the file between the
    markers that git uses. A copy that cannot be updated is named, and the others are.
    """
    read(folder)  # where there is nothing to update, nothing is left behind
    home = _home(folder)
    with _locked(home):
        copies, problems = read(folder)
        files: dict[Path, bytes] = {}
        bases, conflicts = [], {}
        for copy in copies:
            if problem := copy.problem or (copy.moved and _leads_out(copy.path, folder)):
                problems.append(problem)
                continue
            bases.append(copy.base)  # again, should it be lost or have its name of 0.1.0
            if copy.theirs is not None and copy.moved:
                bases.append(copy.theirs)
                merged, conflicts[copy.path] = _merge(copy.base, copy.mine, copy.theirs)
                files[_before(copy.path, home, files)] = copy.raw.encode()
                files[copy.path] = _render(copy.origin, copy.theirs, merged, copy)
        _write(home, files, bases, [copy.path for copy in copies])
    return Update(conflicts, problems, home / KEPT)


def _home(folder: Path) -> Path:
    """Where .torch-repros is: in the folder, or else above it, which is so for vendored tests."""
    above = _absolute(folder).parent
    return above if not (folder / KEPT).is_dir() and (above / KEPT).is_dir() else folder


def _before(path: Path, home: Path, taken: dict[Path, bytes]) -> Path:
    """A new name for the text from before: an earlier one may be the only clean copy of an edit."""
    names = (home / KEPT / f"{path.name}.{number}.before" for number in itertools.count(1))
    return next(name for name in names if name not in taken and not os.path.lexists(name))


def _merge(base: str, mine: str, theirs: str) -> tuple[str, int]:
    """(merged text, conflicts in it)."""
    # A last line without an end would run into the marker that follows it.
    lines = [_lines(re.sub(r"(?<=[^\n])\Z", "\n", text)) for text in (base, mine, theirs)]
    merge = merge3.Merge3(lines[0], lines[1], lines[2])
    merged = "".join(merge.merge_lines(name_a="yours", name_b=f"torch-repros {__version__}"))
    return merged, sum(group[0] == "conflict" for group in merge.merge_groups())


def _render(origin: str, upstream_text: str, body: str, old: Copy | None) -> bytes:
    """The whole file, with the lines above the header and the line ends of the one it replaces."""
    text = render_header(origin, upstream_text) + body
    return (_with_line_ends_of(old.raw, old.above + text) if old else text).encode()


def _with_line_ends_of(raw: str, text: str) -> str:
    """The text, each line ended as the same line is in `raw`, a new one as most lines there are."""
    if "\r\n" not in raw:
        return text
    old, new = _lines(raw), _lines(text)
    crlf = [line.endswith("\r\n") for line in old]
    ends = [2 * sum(crlf) > len(crlf)] * len(new)
    matcher = difflib.SequenceMatcher(None, [*map(_normalised, old)], new)
    for start, target, size in matcher.get_matching_blocks():
        ends[target : target + size] = crlf[start : start + size]
    return "".join(
        f"{line[:-1]}\r\n" if end and line.endswith("\n") else line for line, end in zip(new, ends)
    )


# --- writing --------------------------------------------------------------------------------------


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """One writer at a time; the lock of a process that was killed is free again."""
    kept = folder / KEPT
    for path in (kept, kept / "lock", kept / SCRATCH):
        if path.is_symlink():
            raise VendorError(_leads_out(path, folder))
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(kept / "lock", timeout=10):
            shutil.rmtree(kept / SCRATCH, ignore_errors=True)  # of a process that was killed
            yield
    except filelock.Timeout:
        raise VendorError(f"another torch-repros is writing to {folder}") from None
    except OSError as error:
        where = error.filename2 or error.filename or folder
        raise VendorError(f"{where}: {error.strerror or error}; nothing was written") from None


def _leads_out(path: Path, folder: Path) -> str:
    """The problem of a path that is, or goes through, a symbolic link below the folder; else ""."""
    for link in (path, path.parent):
        if link != folder and link.is_symlink():
            return f"{link} is a symbolic link and might point outside {folder}"
    return ""


def _write(home: Path, files: dict[Path, bytes], bases: list[str], copies: list[Path]) -> None:
    """Writes all the files, or leaves all as they were; `copies` are recorded beside them.

    Killed halfway, each file is whole, old or new, with its base kept.
    """
    kept = home / KEPT
    # In this order: whichever header is in place at a kill, the text it speaks of is there, and so
    # is the text from before.
    everything = {kept / f"{digest(text)}.orig": text.encode() for text in bases}
    everything[kept / COPIES] = _record(home, copies)
    for name, content in SETTINGS.items():
        if not (kept / name).exists():
            everything[kept / name] = content
    everything |= files
    changed = [item for item in everything.items() if not _holds(*item)]
    scratch = kept / SCRATCH
    done: list[tuple[Path, Path]] = []
    try:
        staged = [
            (path, *_stage(path, content, scratch / str(number)))
            for number, (path, content) in enumerate(changed)
        ]
        # From here on only renames, which need no space: what fails can be taken back.
        for path, new, old in staged:
            os.replace(new, path)
            done.append((path, old))
    except BaseException:
        for path, old in reversed(done):
            os.replace(old, path) if old.exists() else path.unlink()
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _record(home: Path, copies: list[Path]) -> bytes:
    """copies.txt: what it lists and is still there, and these."""
    names = {name for name in _listed(home) if name and (home / name).is_file()}
    names |= {os.path.relpath(path, home).replace(os.sep, "/") for path in copies}
    return os.fsencode("".join(f"{name}\n" for name in sorted(names) if "\n" not in name))


def _stage(path: Path, content: bytes, scratch: Path) -> tuple[Path, Path]:
    """(file with the new content, file with the old one, which is there only if `path` is)."""
    new, old = scratch.with_suffix(".new"), scratch.with_suffix(".old")
    scratch.parent.mkdir(exist_ok=True)
    path.parent.mkdir(exist_ok=True)
    new.write_bytes(content)
    if path.exists():
        shutil.copymode(path, new)
        try:
            os.link(path, old)
        except OSError:  # a file system without hard links
            shutil.copy2(path, old)
    return new, old
