"""Writes copies and their accompanying files, all or nothing, with one writer at a time."""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from .copies import (
    COPIES,
    KEPT,
    Copy,
    VendorError,
    lines_of,
    listed,
    render_header,
)
from .originals import digest, normalised

SCRATCH = "tmp"
SETTINGS = {
    ".gitattributes": b"* -text\n",  # prevents git from changing line ends
    # Many projects ignore *.orig files, but merging requires them.
    ".gitignore": f"!*.orig\n!{COPIES}\nlock\n{SCRATCH}/\n".encode(),
}


def render(origin: str, upstream_text: str, body: str, old: Copy | None) -> bytes:
    """The complete file, with the replaced file's line ends and the lines above its header."""
    text = render_header(origin, upstream_text) + body
    return (with_line_ends_of(old.raw, old.above + text) if old else text).encode()


def with_line_ends_of(raw: str, text: str) -> str:
    """The text with the line ends of the same lines in `raw`. New lines get the most common end."""
    if "\r\n" not in raw:
        return text
    old, new = lines_of(raw), lines_of(text)
    crlf = [line.endswith("\r\n") for line in old]
    ends = [2 * sum(crlf) > len(crlf)] * len(new)
    matcher = difflib.SequenceMatcher(None, [*map(normalised, old)], new)
    for start, target, size in matcher.get_matching_blocks():
        ends[target : target + size] = crlf[start : start + size]
    return "".join(
        f"{line[:-1]}\r\n" if end and line.endswith("\n") else line for line, end in zip(new, ends)
    )


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Allows one writer at a time. If a process is killed, its lock is released."""
    import filelock  # imported here, because it takes longer than the rest of the command line

    kept = folder / KEPT
    for path in (kept, kept / "lock", kept / SCRATCH):
        if path.is_symlink():
            raise VendorError(leads_out(path, folder))
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(kept / "lock", timeout=10):
            shutil.rmtree(kept / SCRATCH, ignore_errors=True)  # left by a killed process
            yield
    except filelock.Timeout:
        raise VendorError(f"another torch-repros is writing to {folder}") from None
    except OSError as error:
        where = error.filename2 or error.filename or folder
        raise VendorError(f"{where}: {error.strerror or error}; nothing was written") from None


def leads_out(path: Path, folder: Path) -> str:
    """Describes the problem if the path is or contains a symbolic link below the folder, or ""."""
    for link in (path, path.parent):
        if link != folder and link.is_symlink():
            return f"{link} is a symbolic link and might point outside {folder}"
    return ""


def write(home: Path, files: dict[Path, bytes], bases: list[str], copies: list[Path]) -> None:
    """Writes all the files or leaves all of them unchanged. Also records `copies` in copies.txt.

    If the process is killed, each file is either the complete old file or the complete new file,
    and its base is kept.
    """
    kept = home / KEPT
    # Written in this order, so that even after a kill, both the text that a header names and the
    # previous text of the file exist.
    everything = {kept / f"{digest(text)}.orig": text.encode() for text in bases}
    everything[kept / COPIES] = _record(home, copies)
    for name, content in SETTINGS.items():
        if not (kept / name).exists():
            everything[kept / name] = content
    everything |= files
    changed = [item for item in everything.items() if not _holds(*item)]
    scratch = kept / SCRATCH
    replaced: list[tuple[Path, Path]] = []
    try:
        staged = [
            (path, *_stage(path, content, scratch / str(number)))
            for number, (path, content) in enumerate(changed)
        ]
        # All remaining operations are renames, which need no space and can be undone.
        for path, new, old in staged:
            os.replace(new, path)
            replaced.append((path, old))
    except BaseException:
        for path, old in reversed(replaced):
            os.replace(old, path) if old.exists() else path.unlink()
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _holds(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _record(home: Path, copies: list[Path]) -> bytes:
    """The content of copies.txt: the listed files that still exist, and these copies."""
    names = {name for name in listed(home) if name and (home / name).is_file()}
    names |= {os.path.relpath(path, home).replace(os.sep, "/") for path in copies}
    return os.fsencode("".join(f"{name}\n" for name in sorted(names) if "\n" not in name))


def _stage(path: Path, content: bytes, scratch: Path) -> tuple[Path, Path]:
    """Returns (file with the new content, file with the old content, if `path` exists)."""
    new, old = scratch.with_suffix(".new"), scratch.with_suffix(".old")
    scratch.parent.mkdir(exist_ok=True)
    path.parent.mkdir(exist_ok=True)
    new.write_bytes(content)
    if path.exists():
        shutil.copymode(path, new)
        try:
            os.link(path, old)
        except OSError:  # the file system may lack hard links
            shutil.copy2(path, old)
    return new, old
