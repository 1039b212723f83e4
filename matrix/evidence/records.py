"""What was measured: one JSON file per cell (torch build, device, platform), one entry per reproducer."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import Version

from .. import catalog, torches
from ..catalog import Reproducer
from ..verdicts import Result

RECORDS = catalog.PACKAGE / "records"
WHO = ("hosted", "self", "user")


class RecordsError(Exception):
    """Records that cannot be read, or that contradict each other. One line per mistake."""


@dataclass
class Measurement:
    """What one reproducer did in one cell."""

    verdict: str
    text: str
    detail: str
    popular_fix: str | None
    runs: int
    agreeing: int
    seconds: float
    peak_mib: float
    hash: str  # of the reproducer that was run
    date: str

    @classmethod
    def of(cls, result: Result, entry: Reproducer, date: str) -> Measurement:
        seen = (result.verdict, result.text, result.detail, result.popular_fix, result.runs, result.agreeing)
        return cls(*seen, round(result.seconds, 3), round(result.peak_mib, 1), entry.hash, date)

    def is_stale(self, entry: Reproducer) -> bool:
        return self.hash != entry.hash


@dataclass
class Record:
    """One file."""

    device: str
    build: dict[str, Any]  # torch, cuda, python, numpy, platform, machine, os
    hardware: dict[str, Any]  # name of the processor or GPU; driver, cudnn, paravirtual where there are such
    who: str  # hosted | self | user
    entries: dict[str, Measurement] = field(default_factory=dict)

    @property
    def torch(self) -> str:
        return str(self.build["torch"])

    @property
    def minor(self) -> str:
        return torches.minor(self.torch)

    @property
    def name(self) -> str:
        """Files of one cell have one name wherever they were made, so that they merge."""
        machine = f"{self.build['platform']}-{self.build['machine']}"
        gpu = [] if self.device == "cpu" else [str(self.hardware.get("name") or "unknown")]
        if self.hardware.get("paravirtual"):
            gpu.append("paravirtual")
        if self.build["platform"] == "darwin":
            gpu.append(str(self.build["os"]))  # MPS results depend on the macOS release
        parts = [self.device, *gpu, machine, f"torch-{self.torch}"]
        return "_".join(re.sub(r"[^\w.+]+", "-", part) for part in parts).lower() + ".json"

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "entries": {id: asdict(entry) for id, entry in sorted(self.entries.items())}}

    def save(self, folder: Path) -> Path:
        """Whole or not at all, also when killed halfway or when the disk is full."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / self.name
        scratch = folder / f".{self.name}.{os.getpid()}.tmp"
        try:
            scratch.write_text(json.dumps(self.to_json(), indent=1) + "\n", encoding="utf-8")
            os.replace(scratch, path)
        except BaseException:
            scratch.unlink(missing_ok=True)
            raise
        return path


def read(path: Path) -> Record:
    """One file. Raises RecordsError that says what is wrong with it."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise RecordsError(f"{path}:{line}: not JSON: {error}") from None
    try:
        entries = {id: Measurement(**entry) for id, entry in raw.pop("entries").items()}
        cell = Record(**raw, entries=entries)
        name = cell.name
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise RecordsError(f"{path}:1: not a record: {error}") from None
    if not entries:
        raise RecordsError(f"{path}:1: an empty record: it was made without a single run")
    if name != path.name:
        raise RecordsError(f"{path}:1: should be called {name}")
    if cell.who not in WHO:
        raise RecordsError(f"{path}:1: who = {cell.who!r}: expected {', '.join(WHO)}")
    return cell


def load(folder: Path = RECORDS) -> list[Record]:
    """Every cell, oldest torch first. Raises RecordsError with every mistake of every file."""
    cells, mistakes = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            cells.append(read(path))
        except RecordsError as error:
            mistakes.append(str(error))
    if mistakes:
        raise RecordsError("\n".join(mistakes))
    return sorted(cells, key=lambda cell: (Version(cell.torch), cell.name))


def fresh(cells: list[Record], entry: Reproducer, device: str) -> Iterator[tuple[Record, Measurement]]:
    """What was measured of the reproducer as it is now, on this device, oldest torch first."""
    for cell in cells:
        found = cell.entries.get(entry.id)
        if cell.device == device and found is not None and not found.is_stale(entry):
            yield cell, found


def contradictions(left: Record, right: Record) -> list[str]:
    """Reproducers of which two files of one cell say different things about the same code."""
    both = left.entries.keys() & right.entries.keys()
    different = [
        id
        for id in sorted(both)
        if left.entries[id].hash == right.entries[id].hash and left.entries[id].verdict != right.entries[id].verdict
    ]
    return [f"{left.name}: {id}: {_say(left.entries[id])} against {_say(right.entries[id])}" for id in different]


def _say(entry: Measurement) -> str:
    return f"{entry.verdict} ({entry.agreeing} of {entry.runs}, {entry.date})"


def merge(mine: Record, theirs: Record, current: dict[str, Reproducer]) -> Record:
    """Both files' entries; of two about one reproducer, the one about the code as it is now, else the newer one."""

    def rank(id: str, entry: Measurement) -> tuple[bool, str]:
        return id in current and not entry.is_stale(current[id]), entry.date

    entries = dict(mine.entries)
    for id, entry in theirs.entries.items():
        if id not in entries or rank(id, entry) > rank(id, entries[id]):
            entries[id] = entry
    newest = max((mine, theirs), key=lambda cell: max(entry.date for entry in cell.entries.values()))
    return Record(newest.device, newest.build, newest.hardware, newest.who, entries)
