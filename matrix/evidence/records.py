"""What was measured: a JSON file per torch build, device and platform.

A file states once what makes its name, and under `sources` who measured, with what and where. Every
measurement names its source, so files from anywhere merge without changing what another measurement
says about its origin.

Beside the files, the folder `.journal` holds what a run has measured and not yet written into the
file, one line per measurement. All functions that read see it. A kill at any moment loses the
measurement under way and nothing else.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import hashlib
import json
import os
import re
import reprlib
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import MISSING, asdict, dataclass, field, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from .. import torches
from ..catalog import RECORDS, Reproducer
from ..devices import DEVICES
from ..printing import printable
from ..verdicts import BY_NAME, TEXT, VERDICTS, Result

KINDS = ("hosted", "self", "user")  # a hosted CI machine, the project's own, anyone else's
FIRST_DAY = "2026-01-01"  # nothing was measured before
MAX_RUNS = 1000
LONGEST = 10 * (TEXT + 100)  # characters of a text: each of those that a run keeps may be escaped
LARGE = 1e300  # no number reaches it, so that each fits into a float
BUILD = ("python", "cuda", "numpy", "os")  # what a source states of the build under test
LOCK_TIMEOUT = 60.0  # seconds; a lock is held while one file is written


class RecordsError(Exception):
    """Records that cannot be read. One line per problem."""


# --- what a record may hold -----------------------------------------------------------------------
# Each check returns what is wrong with a value, as the end of "KEY: VALUE ...", or None.

Check = Callable[[Any], "str | None"]


def _key(check: Check, **default: Any) -> Any:
    return field(metadata={"check": check}, **default)


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return "is not text"
    if len(value) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if value.isascii() and value.isprintable():  # most are: ten times as fast as the search
        return None
    return "holds characters that cannot be printed" if printable(value) != value else None


def _text_or_null(value: Any) -> str | None:
    if isinstance(value, (str, type(None))):
        return None if value is None else _text(value)
    return "is neither text nor null"


def _flag(value: Any) -> str | None:
    return None if isinstance(value, bool) else "is neither true nor false"


def _facts(value: Any) -> str | None:
    if not isinstance(value, dict):
        return "is not a table of facts"
    odd = [key for key, fact in value.items() if _text(key) or not _is_plain(fact)]
    return f"states no plain fact for {', '.join(odd)}" if odd else None


def _is_plain(fact: Any) -> bool:
    if isinstance(fact, int):
        return abs(fact) < LARGE
    return fact is None or _text(fact) is None


def _build_facts(value: Any) -> str | None:
    """What the file's name does not say of the build."""
    if isinstance(value, dict) and set(value) != set(BUILD):
        return f"has other keys than {', '.join(BUILD)}"
    return _facts(value)


def _one_of(names: tuple[str, ...]) -> Check:
    return lambda value: None if value in names else f"is not one of {', '.join(names)}"


def _matches(pattern: str, what: str) -> Check:
    compiled = re.compile(pattern)

    def check(value: Any) -> str | None:
        return None if isinstance(value, str) and compiled.fullmatch(value) else f"is not {what}"

    return check


def _amount(value: Any) -> str | None:
    fine = isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < LARGE
    return None if fine else "is not a finite number of 0 or more"


def _count(value: Any) -> str | None:
    fine = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_RUNS
    return None if fine else f"is not a whole number from 0 to {MAX_RUNS}"


def _version(value: Any) -> str | None:
    try:
        Version(value)
    except (InvalidVersion, TypeError):
        return "is not a version of torch"
    return None


def _date(value: Any) -> str | None:
    return _not_a_date(value) if isinstance(value, str) else "is not a date such as 2026-11-21"


@cache
def _not_a_date(value: str) -> str | None:
    try:
        written = datetime.date.fromisoformat(value).isoformat()
    except ValueError:
        written = ""
    if written != value:
        return "is not a date such as 2026-11-21"
    # tomorrow: a day may have begun elsewhere
    last = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    fine = FIRST_DAY <= value <= last.date().isoformat()
    return None if fine else f"is not between {FIRST_DAY} and tomorrow"


@dataclass(frozen=True)
class Source:
    """Who measured, with what and where. The fields made by _key are its keys in the file."""

    kind: str = _key(_one_of(KINDS))
    harness: str = _key(_text)  # the version of this package
    command: str = _key(_text)  # without paths; "" where it is not known
    build: dict[str, Any] = _key(_build_facts)
    # name of the processor or GPU; its driver, cudnn and so on where there are such
    hardware: dict[str, Any] = _key(_facts)

    @cached_property
    def key(self) -> str:
        """A digest of the content: the same wherever it is computed."""
        return _digest(asdict(self))


def _slug(gpu: str) -> str:
    """Part of a file's name, of its own for each of "A B", "A-B" and "A/B"."""
    if re.fullmatch(r"[\w.+]+( [\w.+]+)*", gpu):
        return gpu
    return f"{gpu}-{hashlib.sha256(gpu.encode()).hexdigest()[:8]}"


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


@dataclass
class Measurement:
    """What one reproducer did on one build and device."""

    verdict: str = _key(_one_of(VERDICTS))
    text: str = _key(_text)
    detail: str = _key(_text)
    popular_fix: str | None = _key(_text_or_null)
    runs: int = _key(_count)
    agreeing: int = _key(_count)
    seconds: float = _key(_amount)
    peak_mib: float = _key(_amount)
    hash: str = _key(_matches("[0-9a-f]{16}", "16 hexadecimal digits"))
    date: str = _key(_date)
    source: Source = _key(_matches("[0-9a-f]{12}", "the key of a source"))  # in the file: its key
    said: str = _key(_text, default="")  # by messages(), where the reproducer has one

    @classmethod
    def of(cls, result: Result, reproducer: Reproducer, source: Source, date: str) -> Measurement:
        return cls(
            verdict=result.verdict,
            text=printable(result.text),
            detail=printable(result.detail),
            popular_fix=None if result.popular_fix is None else printable(result.popular_fix),
            runs=result.runs,
            agreeing=result.agreeing,
            seconds=round(result.seconds, 3),
            peak_mib=round(result.peak_mib, 1),
            hash=reproducer.hash,
            date=date,
            source=source,
            said=printable(result.said),
        )

    def raised(self, pattern: str) -> bool:
        """Whether a text of this run has what the pattern stands for."""
        texts = (" ".join(text.split()) for text in (self.text, self.said))
        return any(re.search(pattern, text, re.IGNORECASE) for text in texts)

    def is_stale(self, reproducer: Reproducer) -> bool:
        return self.hash != reproducer.hash

    def agrees_with(self, other: Measurement) -> bool:
        """The same code with the same outcome. The numbers in a text may differ from run to run."""
        return self._outcome == other._outcome

    @property
    def _outcome(self) -> tuple[str, str, bool | None]:
        return self.hash, self.verdict, None if self.popular_fix is None else bool(self.popular_fix)

    def __str__(self) -> str:
        return f"{self.verdict} ({self.agreeing} of {self.runs}, {self.date})"


@dataclass
class Record:
    """One file."""

    device: str = _key(_one_of(DEVICES))
    torch: str = _key(_version)  # the build: "2.4.1+cu121"
    platform: str = _key(_text)  # sys.platform
    machine: str = _key(_text)  # "x86_64"
    gpu: str = _key(_text, default="")  # its name; "" on the CPU
    virtual: bool = _key(_flag, default=False)  # not the chip's own GPU
    # the release of macOS, on which results on MPS depend; "" elsewhere
    system: str = _key(_text, default="")
    measurements: dict[str, Measurement] = field(default_factory=dict)

    @property
    def minor(self) -> str:
        return torches.minor(self.torch)

    @property
    def name(self) -> str:
        """The same wherever the file was made, so that files merge."""
        gpu = [] if self.device == "cpu" else [_slug(self.gpu or "unknown")]
        parts = [self.device, *gpu, "paravirtual" if self.virtual else "", self.system]
        parts += [f"{self.platform}-{self.machine}", f"torch-{self.torch}"]
        return "_".join(re.sub(r"[^\w.+]+", "-", part) for part in parts if part).lower() + ".json"

    def path(self, folder: Path) -> Path:
        return folder / self.name

    def to_json(self) -> dict[str, Any]:
        head = {key: getattr(self, key) for key in _checks(Record)[0]}
        optional = {item.name: item.default for item in fields(self)}
        sources = {
            measurement.source.key: measurement.source for measurement in self.measurements.values()
        }
        return {
            **{key: value for key, value in head.items() if value != optional[key]},
            "sources": {key: asdict(source) for key, source in sorted(sources.items())},
            "measurements": {
                id: {**vars(measurement), "source": measurement.source.key}
                for id, measurement in sorted(self.measurements.items())
            },
        }

    def _readable(self) -> dict[str, Any]:
        """As JSON, after the checks that reading makes."""
        raw = self.to_json()
        _, problems = _build(raw, self.name)
        if problems:
            raise RecordsError("\n".join(f"{self.name}: {problem}" for _, problem in problems))
        return raw

    def append(self, folder: Path) -> None:
        """Adds the measurements to the journal, at a cost that does not grow with the record.

        Raises RecordsError for what could not be read again, as save() does.
        """
        path = self.path(folder)
        line = json.dumps(self._readable()).encode() + b"\n"
        with _locked(path), open(_journal(path), "ab+") as journal:
            if journal.tell():
                journal.seek(-1, os.SEEK_END)
                if journal.read() != b"\n":  # a kill or a full disk cut the last line off
                    line = b"\n" + line
            journal.write(line)

    def save(
        self, folder: Path, choose: Callable[[Record], dict[str, Measurement]] | None = None
    ) -> Path:
        """Joins the measurements with those in the file and in its journal, and writes the file.

        `choose` takes the record that is there and returns the measurements that belong in it; no
        other process writes between. The file is written whole or not at all. Raises RecordsError
        when what is there cannot be read, or what is new could not be read again.
        """
        path = self.path(folder)
        with _locked(path):
            journal = _journal(path)
            if self.measurements or journal.exists():
                there, problems = read(path)
                if problems:
                    raise RecordsError("\n".join(problems))
                there = there or replace(self, measurements={})
                new = choose(there) if choose else self.measurements
                whole = replace(self, measurements={**there.measurements, **new})
                if whole.measurements and (new or journal.exists()):
                    _write(path, json.dumps(whole._readable(), indent=1) + "\n")
                journal.unlink(missing_ok=True)
        return path


# --- writing --------------------------------------------------------------------------------------


def _journal(path: Path) -> Path:
    return path.parent / ".journal" / path.name


def _hidden(folder: Path) -> Path:
    """The folder of journals and locks, made where it is not there."""
    hidden = folder / ".journal"
    hidden.mkdir(parents=True, exist_ok=True)
    ignore = hidden / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", encoding="utf-8")
    return hidden


def check_writable(folder: Path) -> None:
    """Raises OSError where no record can be written: ask before work that takes long."""
    for place in (_hidden(folder), folder):
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"x")


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """For one process at a time. The lock ends with the process, however that ends."""
    import filelock  # here: reading does without it

    folder = _hidden(path.parent)
    with filelock.FileLock(folder / f"{path.name}.lock", timeout=LOCK_TIMEOUT):
        yield


def _write(path: Path, text: str) -> None:
    write_whole(path, text, _journal(path).with_name(f"{path.name}.tmp"))


def write_whole(path: Path, text: str, scratch: Path | None = None) -> None:
    """Writes a file whole or not at all. It keeps its mode, and a link stays one."""
    target = path.resolve()
    if scratch is None or path.is_symlink():  # what is linked to may be on another disk
        scratch = target.with_name(f".{target.name}.tmp")
    try:
        scratch.write_text(text, encoding="utf-8", newline="")
        if target.exists():
            shutil.copymode(target, scratch)
        os.replace(scratch, target)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


# --- reading --------------------------------------------------------------------------------------


def load(folder: Path = RECORDS) -> list[Record]:
    """Every record, oldest torch first. Raises RecordsError with every problem of every file."""
    records, problems = read_all(folder)
    if problems:
        raise RecordsError("\n".join(problems))
    return records


def _one_line(problem: str) -> str:
    return printable(problem).replace("\n", r"\n")


def read_all(folder: Path = RECORDS) -> tuple[list[Record], list[str]]:
    """What is good in every record, oldest torch first, and one line per problem of the rest."""
    names = {path.name for path in [*folder.glob("*.json"), *(folder / ".journal").glob("*.json")]}
    records: list[Record] = []
    problems: list[str] = []
    for name in sorted(names):
        record, wrong = read(folder / name)
        if record is not None:
            records.append(record)
        problems += wrong
    return sorted(records, key=lambda record: (Version(record.torch), record.name)), problems


def read(path: Path) -> tuple[Record | None, list[str]]:
    """One file with its journal: what is good in them, or None, and one line per problem."""
    # First: a line that leaves the journal meanwhile is in the file by then.
    journalled = _read_journal(path)
    parts, problems = _read_file(path) if path.exists() or path.is_symlink() else ([], [])
    parts += journalled[0]
    record = replace(parts[0], measurements={}) if parts else None
    for part in parts:
        assert record is not None
        held = record.measurements
        for id, one in part.measurements.items():
            if id not in held or one.date >= held[id].date:  # a newer file came beside an old line
                held[id] = one
    return record, problems + journalled[1]


def _read_text(path: Path, errors: str = "strict") -> str:
    if not stat.S_ISREG(path.stat().st_mode):  # a pipe would wait for a writer
        raise OSError(errno.EINVAL, "Not a regular file")
    return path.read_text(encoding="utf-8", errors=errors)


def _read_file(path: Path) -> tuple[list[Record], list[str]]:
    try:
        text = _read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else error.strerror
        return [], [f"{path}:1: cannot be read: {why}"]
    if conflict := re.search(r"^(<{7}|={7}|>{7})( |$)", text, re.M):
        line = text.count("\n", 0, conflict.start()) + 1
        return [], [f"{path}:{line}: the mark of an unresolved merge conflict: {conflict[1]}"]
    try:
        raw = _parse(text)
    except (ValueError, RecursionError) as error:
        return [], [f"{path}:{getattr(error, 'lineno', 1)}: not JSON: {error}"]
    record, problems = _build(raw, path.name)
    return [record] if record else [], [
        f"{path}:{_line(text, key)}: {_one_line(problem)}" for key, problem in problems
    ]


def _read_journal(path: Path) -> tuple[list[Record], list[str]]:
    journal = _journal(path)
    records, problems = [], []
    try:
        lines = _read_text(journal, errors="replace").splitlines()
    except FileNotFoundError:
        return [], []
    except OSError as error:
        return [], [f"{journal}:1: cannot be read: {error.strerror}"]
    for number, line in enumerate(lines, 1):
        try:
            raw = _parse(line)
        except (ValueError, RecursionError):
            continue  # a kill or a full disk cut it off
        if not isinstance(raw, dict):
            continue  # the rest of such a line
        record, wrong = _build(raw, path.name)
        if record is not None:
            records.append(record)
        problems += [f"{journal}:{number}: {_one_line(problem)}" for _, problem in wrong]
    return records, problems


def _parse(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"{next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return values


def line_of(path: Path, id: str) -> int:
    """The line of a record at which a measurement begins; 1 where it is not in the file."""
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


Problems = list[tuple[str, str]]  # (the key at whose line it is, the problem)


def _build(raw: Any, name: str) -> tuple[Record | None, Problems]:
    """What is good in a parsed record, None where its head is not, and the problems."""
    if not isinstance(raw, dict):
        return None, [("", f"not a record: expected an object, found {reprlib.repr(raw)}")]
    head = {key: value for key, value in raw.items() if key not in ("sources", "measurements")}
    problems = [(key, f"{key}: {problem}") for key, problem in _wrong(Record, head)]
    for key in ("sources", "measurements"):
        if not isinstance(raw.get(key), dict):
            problems.append((key, f"{key}: expected an object, found {reprlib.repr(raw.get(key))}"))
    if problems:
        return None, problems
    record = Record(**head)
    if record.name != name:
        return None, [("torch", f"this record should be called {record.name}")]
    if not raw["measurements"]:
        return None, [("measurements", "an empty record: it was made without a single run")]
    sources = {}
    for key, value in raw["sources"].items():
        if wrong := _wrong_source(key, value):
            problems += [(key, f"source {key}: {problem}") for problem in wrong]
        else:
            sources[key] = Source(**value)
    for id, value in raw["measurements"].items():
        if wrong := _wrong_measurement(id, value, raw["sources"]):
            problems += [(id, f"{id}: {problem}") for problem in wrong]
        elif value["source"] in sources:  # a bad source has its line above
            record.measurements[id] = Measurement(**{**value, "source": sources[value["source"]]})
    return (record if record.measurements else None), problems


def _wrong(kind: type, raw: Any) -> Problems:
    """(key, what is wrong with it) of an object that should hold the fields of `kind`."""
    if not isinstance(raw, dict):
        return [("", f"expected an object, found {reprlib.repr(raw)}")]
    checks, required = _checks(kind)
    found = [(key, "missing") for key in required if key not in raw]
    for key, value in raw.items():
        if key not in checks:
            found.append((key, f"unknown key; expected one of {', '.join(checks)}"))
        elif problem := checks[key](value):
            found.append((key, f"{reprlib.repr(value)} {problem}"))
    return found


@cache
def _checks(kind: type) -> tuple[dict[str, Check], list[str]]:
    """Key -> its check, and the keys that have to be there."""
    keys = [item for item in fields(kind) if "check" in item.metadata]
    return (
        {item.name: item.metadata["check"] for item in keys},
        [item.name for item in keys if item.default is MISSING],
    )


def _wrong_source(key: str, raw: Any) -> list[str]:
    wrong = [f"{name}: {problem}" if name else problem for name, problem in _wrong(Source, raw)]
    if not wrong and key != _digest(raw):
        wrong = [f"its content was changed: the key of this content is {_digest(raw)}"]
    return wrong


_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def _wrong_measurement(id: str, raw: Any, sources: dict[str, Any]) -> list[str]:
    wrong = [
        f"{name}: {problem}" if name else problem for name, problem in _wrong(Measurement, raw)
    ]
    if wrong:
        return wrong
    if not _ID.fullmatch(id):
        wrong.append(f"{id!r} is not an id such as amp/unscale_twice")
    verdict, agreeing, runs = raw["verdict"], raw["agreeing"], raw["runs"]
    if not BY_NAME[verdict].ran:
        if agreeing or runs:
            wrong.append(f"agreeing, runs: {agreeing} of {runs}; expected 0 of 0 for {verdict}")
    elif not 0 < agreeing <= runs:
        wrong.append(f"agreeing, runs: {agreeing} of {runs}; expected 0 < agreeing <= runs")
    elif (verdict == "flaky") != (agreeing < runs):
        wrong.append(
            f"agreeing, runs: {agreeing} of {runs}; runs that disagree, and only they, are flaky"
        )
    if raw["source"] not in sources:
        wrong.append(f"source: {raw['source']!r} is not one of the file's sources")
    return wrong


# --- comparing ------------------------------------------------------------------------------------


def fresh(
    records: list[Record], reproducer: Reproducer, device: str
) -> Iterator[tuple[Record, Measurement]]:
    """What was measured of the reproducer as it is now, on this device, oldest torch first."""
    for record in records:
        measurement = record.measurements.get(reproducer.id)
        if (
            record.device == device
            and measurement is not None
            and not measurement.is_stale(reproducer)
        ):
            yield record, measurement


def contradictions(left: Record, right: Record) -> list[str]:
    """The ids of which two records of one name report different verdicts on the same code."""
    return [
        id
        for id in sorted(left.measurements.keys() & right.measurements.keys())
        if left.measurements[id].hash == right.measurements[id].hash
        and left.measurements[id].verdict != right.measurements[id].verdict
    ]


def updates(
    old: Record, new: Record, current: dict[str, Reproducer], changes_only: bool = False
) -> dict[str, Measurement]:
    """What of `new` belongs in `old`: what is not there, is about the code as it is now, or newer.

    Never where the two contradict each other, and with `changes_only` not where they agree. Of two
    that are of one day, the content decides: merging in another order gives the same.
    """

    def rank(id: str, measurement: Measurement) -> tuple[bool, str, str]:
        is_current = id in current and not measurement.is_stale(current[id])
        return is_current, measurement.date, repr(measurement)

    contradicting = contradictions(old, new)

    def replaces(id: str, measurement: Measurement) -> bool:
        if id not in old.measurements:
            return True
        there = old.measurements[id]
        if id in contradicting or (changes_only and measurement.agrees_with(there)):
            return False
        return rank(id, measurement) > rank(id, there)

    return {
        id: measurement for id, measurement in new.measurements.items() if replaces(id, measurement)
    }
