"""Findings: each is printed once when it is made, and kept in a file per process."""

from __future__ import annotations

import hashlib
import json
import linecache
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO, Tuple  # noqa: UP035

LEVELS = ("error", "warning", "note")
IGNORE = re.compile(r"#\s*torch-repros:\s*ignore\b(?:\s*\[([^\]]*)\])?")  # as in `scan`
Key = Tuple[str, str, int]  # noqa: UP006  (Python 3.8 cannot evaluate tuple[...])


@dataclass
class Finding:
    """What a check has seen."""

    id: str
    check: str  # the name of the check, FAMILY/NAME
    level: str
    message: str  # what was seen, in one sentence
    change: str  # what to write instead, in one sentence
    file: str  # the line of the program that led to the event, or ""
    line: int
    step: int  # the step in which it was first seen, from 1 on
    count: int = 1  # how often it was seen
    facts: dict[str, Any] = field(default_factory=dict)  # torch, the rank, the process

    @property
    def key(self) -> Key:
        return self.id, self.file, self.line

    @property
    def is_silenced(self) -> bool:
        """True if a comment on the line of the program names the id, its family, or nothing."""
        comment = IGNORE.search(linecache.getline(self.file, self.line)) if self.line else None
        if comment is None:
            return False
        names = re.split(r"[\s,]+", comment[1].strip()) if comment[1] else []
        return comment[1] is None or bool({self.id, self.id.partition("/")[0]} & set(names))

    def text(self) -> str:
        place = f"{_short(self.file)}:{self.line}: " if self.file else ""
        return f"{place}{self.level}: {self.message} (step {self.step}) [{self.id}]"


class Findings:
    """The findings of this process.

    The processes of a program may share a folder. Then each process keeps its findings in a file of
    its own in the folder, and only the first process that makes a finding prints it.
    """

    def __init__(self, folder: Path | None = None, stream: TextIO | None = None) -> None:
        self.folder, self.stream = folder, stream
        self.failed: dict[str, str] = {}  # checks that raised an error, and the error
        self._by_key: dict[Key, Finding] = {}

    def __iter__(self) -> Iterator[Finding]:
        return iter(in_order(self._by_key.values()))

    def add(self, finding: Finding) -> None:
        known = self._by_key.get(finding.key)
        if known:
            known.count += 1
            return
        if finding.is_silenced:
            return
        self._by_key[finding.key] = finding
        self.save()
        if self._is_first(finding):
            self._print(finding)

    def save(self) -> None:
        """Writes the file of this process. A full disk must not end the program."""
        if not self.folder:
            return
        path = self.folder / f"{os.getpid()}.json"
        content = {
            "findings": [asdict(each) for each in self._by_key.values() if each.count],
            "failed": self.failed,
        }
        with suppress(OSError, TypeError):
            part = path.with_suffix(".part")
            part.write_text(json.dumps(content), encoding="utf-8")
            part.replace(path)

    def forked(self) -> None:
        """In a forked process, forgets what the parent has counted, but not what it has printed."""
        for finding in self._by_key.values():
            finding.count = 0

    def _is_first(self, finding: Finding) -> bool:
        if not self.folder:
            return True
        name = hashlib.sha1(repr(finding.key).encode()).hexdigest()
        try:
            os.close(os.open(self.folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            return False
        except OSError:  # print it twice rather than never
            pass
        return True

    def _print(self, finding: Finding) -> None:
        stream = self.stream or sys.stderr
        with suppress(OSError, ValueError, AttributeError):  # closed, or None under pythonw
            stream.write(f"torch-repros: {finding.text()}\n")
            if finding.change:
                stream.write(f"    {finding.change}\n")
            stream.flush()


def merged(folder: Path) -> tuple[list[Finding], dict[str, str]]:
    """The findings of all processes, the worst first, and the checks that failed."""
    by_key: dict[Key, Finding] = {}
    failed: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):  # a killed process
            continue
        failed.update(content["failed"])
        for values in content["findings"]:
            finding = Finding(**values)
            known = by_key.setdefault(finding.key, finding)
            if known is not finding:
                known.count += finding.count
                known.step = min(known.step, finding.step)
    return in_order(by_key.values()), failed


def in_order(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, the worst first, then by step."""
    return sorted(findings, key=lambda each: (LEVELS.index(each.level), each.step, each.key))


def _short(file: str) -> str:
    """The path relative to the working folder if it is in that folder, or else the path."""
    with suppress(ValueError, OSError):
        relative = os.path.relpath(file)
        return file if relative.startswith("..") else relative
    return file
