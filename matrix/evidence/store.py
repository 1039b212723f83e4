"""Merges records and writes them atomically, with a journal and a lock.

If the process is killed, only the measurement in progress is lost.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..catalog import Reproducer
from . import records
from .records import journal_of
from .schema import Measurement, Record, RecordsError, parse

LOCK_TIMEOUT = 60.0  # seconds; a process holds a lock only while it writes one file


def _readable(record: Record) -> dict[str, Any]:
    """Returns the record as JSON, after applying the same checks as when reading."""
    raw = record.to_json()
    _, problems = parse(raw, record.name)
    if problems:
        raise RecordsError("\n".join(f"{record.name}: {problem}" for _, problem in problems))
    return raw


def append(record: Record, folder: Path) -> None:
    """Adds the measurements to the journal, in time that does not depend on the record's size.

    Like save(), raises RecordsError if the record would be unreadable.
    """
    path = record.path(folder)
    line = json.dumps(_readable(record)).encode() + b"\n"
    with _locked(path), open(journal_of(path), "ab+") as journal:
        if journal.tell():
            journal.seek(-1, os.SEEK_END)
            if journal.read() != b"\n":  # the last line was truncated by a kill or a full disk
                line = b"\n" + line
        journal.write(line)


def save(
    record: Record,
    folder: Path,
    choose: Callable[[Record], dict[str, Measurement]] | None = None,
) -> Path:
    """Merges the measurements into those in the file and its journal, and writes the file.

    The function `choose` receives the existing record and returns the measurements to add, while no
    other process can write. The file is written atomically. Raises RecordsError if the existing
    record cannot be read, or if the new record would be unreadable.
    """
    path = record.path(folder)
    with _locked(path):
        journal = journal_of(path)
        if record.measurements or journal.exists():
            existing, problems = records.read(path)
            if problems:
                raise RecordsError("\n".join(problems))
            existing = existing or replace(record, measurements={})
            new = choose(existing) if choose else record.measurements
            whole = replace(record, measurements={**existing.measurements, **new})
            if whole.measurements and (new or journal.exists()):
                _write(path, json.dumps(_readable(whole), indent=1) + "\n")
            journal.unlink(missing_ok=True)
    return path


def _hidden(folder: Path) -> Path:
    """The folder for journals and locks, which is created if necessary."""
    hidden = folder / ".journal"
    hidden.mkdir(parents=True, exist_ok=True)
    ignore = hidden / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return hidden


def check_writable(folder: Path) -> None:
    """Raises OSError if records cannot be written. Call this function before any long work."""
    for place in (_hidden(folder), folder):
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"x")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Locks the record for this process. The lock ends with the process, even if it is killed."""
    import filelock  # imported here, because reading does not need it

    folder = _hidden(path.parent)
    with filelock.FileLock(folder / f"{path.name}.lock", timeout=LOCK_TIMEOUT):
        yield


def _write(path: Path, text: str) -> None:
    write_whole(path, text, journal_of(path).with_name(f"{path.name}.tmp"))


def write_whole(path: Path, text: str, scratch: Path | None = None) -> None:
    """Writes a file atomically. The file keeps its mode, and a link remains a link."""
    target = path.resolve()
    if scratch is None or path.is_symlink():  # the target of a link may be on a different disk
        scratch = target.with_name(f".{target.name}.tmp")
    try:
        scratch.write_text(text, encoding="utf-8", newline="")
        if target.exists():
            shutil.copymode(target, scratch)
        os.replace(scratch, target)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


# --- merging --------------------------------------------------------------------------------------


def contradictions(left: Record, right: Record) -> list[str]:
    """The ids for which two records with the same name have different verdicts on the same code."""
    return [
        id
        for id in sorted(left.measurements.keys() & right.measurements.keys())
        if left.measurements[id].hash == right.measurements[id].hash
        and left.measurements[id].verdict != right.measurements[id].verdict
    ]


def updates(
    old: Record, new: Record, current: dict[str, Reproducer], changes_only: bool = False
) -> dict[str, Measurement]:
    """The measurements of `new` to add to `old`: those missing there, of current code, or newer.

    Contradictory measurements are never added. With `changes_only`, nor are measurements with the
    same outcome. For measurements from the same day, the content decides, so that the order of
    merging makes no difference.
    """

    def rank(id: str, measurement: Measurement) -> tuple[bool, str, str]:
        is_current = id in current and not measurement.is_stale(current[id])
        return is_current, measurement.date, repr(measurement)

    contradicting = contradictions(old, new)

    def replaces(id: str, measurement: Measurement) -> bool:
        if id not in old.measurements:
            return True
        existing = old.measurements[id]
        if id in contradicting or (changes_only and measurement.agrees_with(existing)):
            return False
        return rank(id, measurement) > rank(id, existing)

    return {
        id: measurement for id, measurement in new.measurements.items() if replaces(id, measurement)
    }
