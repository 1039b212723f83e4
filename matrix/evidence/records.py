"""Reads records, including their journals.

The folder `.journal`, next to the record files, contains measurements that a run has not yet
written to the file, one per line. All functions that read records include these measurements.
"""

from __future__ import annotations

import errno
import json
import re
import stat
from collections.abc import Container, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from ..catalog import RECORDS, Reproducer
from ..printing import printable
from .schema import Measurement, Record, RecordsError, parse


def journal_of(path: Path) -> Path:
    return path.parent / ".journal" / path.name


def load(folder: Path = RECORDS) -> list[Record]:
    """All records, oldest torch first. Raises RecordsError with every problem in every file."""
    records, problems = read_all(folder)
    if problems:
        raise RecordsError("\n".join(problems))
    return records


def _one_line(problem: str) -> str:
    return printable(problem).replace("\n", r"\n")


def read_all(
    folder: Path = RECORDS, ids: Container[str] | None = None
) -> tuple[list[Record], list[str]]:
    """Returns the valid part of every record, oldest torch first, and one line per problem.

    `ids` restricts the measurements to these reproducers.
    """
    names = {path.name for path in [*folder.glob("*.json"), *(folder / ".journal").glob("*.json")]}
    records: list[Record] = []
    problems: list[str] = []
    for name in sorted(names):
        record, wrong = read(folder / name, ids)
        if record is not None:
            records.append(record)
        problems += wrong
    return sorted(records, key=lambda record: (Version(record.torch), record.name)), problems


def read(path: Path, ids: Container[str] | None = None) -> tuple[Record | None, list[str]]:
    """Returns the valid part of a file and its journal, or None, and one line per problem."""
    # Read the journal first, so as not to miss lines that are moved to the file in the meantime.
    journalled = _read_journal(path)
    parts, problems = _read_file(path, ids) if path.exists() or path.is_symlink() else ([], [])
    parts += journalled[0]
    record = replace(parts[0], measurements={}) if parts else None
    for part in parts:
        assert record is not None
        measurements = record.measurements
        for id, measurement in part.measurements.items():
            # the file may be newer than a line in the journal
            if id not in measurements or measurement.date >= measurements[id].date:
                measurements[id] = measurement
    return record, problems + journalled[1]


def _read_text(path: Path, errors: str = "strict") -> str:
    if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe would wait for a writer
        raise OSError(errno.EINVAL, "Not a regular file")
    return path.read_text(encoding="utf-8", errors=errors)


def _read_file(path: Path, ids: Container[str] | None) -> tuple[list[Record], list[str]]:
    try:
        text = _read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        return [], [f"{path}:1: cannot be read: {why}"]
    if conflict := re.search(r"^(<{7}|={7}|>{7})( |$)", text, re.M):
        line = text.count("\n", 0, conflict.start()) + 1
        return [], [f"{path}:{line}: a marker of an unresolved merge conflict: {conflict[1]}"]
    try:
        raw = _json(text)
    except (ValueError, RecursionError) as error:
        return [], [f"{path}:{getattr(error, 'lineno', 1)}: not JSON: {error}"]
    record, problems = parse(raw, path.name, ids)
    return [record] if record else [], [
        f"{path}:{_line(text, key)}: {_one_line(problem)}" for key, problem in problems
    ]


def _read_journal(path: Path) -> tuple[list[Record], list[str]]:
    journal = journal_of(path)
    records, problems = [], []
    try:
        lines = _read_text(journal, errors="replace").splitlines()
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{journal}:1: cannot be read: {error.strerror}"]
    for number, line in enumerate(lines, 1):
        try:
            raw = _json(line)
        except (ValueError, RecursionError):
            continue  # truncated because of a kill or a full disk
        if not isinstance(raw, dict):
            continue  # the rest of a truncated line
        record, wrong = parse(raw, path.name)
        if record is not None:
            records.append(record)
        problems += [f"{journal}:{number}: {_one_line(problem)}" for _, problem in wrong]
    return records, problems


def _json(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} occurs twice")
    return values


def line_of(path: Path, id: str) -> int:
    """The line number at which a measurement begins in a record file, or 1 if it is missing."""
    try:
        return _line(_read_text(path), id)
    except (OSError, UnicodeDecodeError):
        return 1


def _line(text: str, key: str) -> int:
    start = json.dumps(key) + ":"
    return next(
        (
            number
            for number, line in enumerate(text.splitlines(), 1)
            if line.lstrip().startswith(start)
        ),
        1,
    )


def fresh(
    records: list[Record], reproducer: Reproducer, device: str
) -> Iterator[tuple[Record, Measurement]]:
    """The measurements of the reproducer's current code on this device, oldest torch first."""
    for record in records:
        measurement = record.measurements.get(reproducer.id)
        if (
            record.device == device
            and measurement is not None
            and not measurement.is_stale(reproducer)
        ):
            yield record, measurement
