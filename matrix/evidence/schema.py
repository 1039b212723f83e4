"""Defines a record: a JSON file for one torch build, device and platform.

A file states the parts of its name once, and lists under `sources` who measured, with what, and
where. Every measurement names its source, so files from anywhere can be merged without losing the
origin of any measurement.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import reprlib
from collections.abc import Container
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .. import checked, torches
from ..catalog import Reproducer
from ..checked import Check, Problems, key
from ..devices import DEVICES
from ..printing import printable
from ..verdicts import BY_NAME, TEXT, VERDICTS, Result

KINDS = ("hosted", "self", "user")  # a hosted CI machine, the project's own, anybody else's
FIRST_DAY = "2026-01-01"  # there are no earlier measurements
MAX_RUNS = 1000
LONGEST = 10 * (TEXT + 100)  # maximum length of a text in which every character is escaped
LARGE = 1e300  # an upper bound on numbers, so that they fit into a float
BUILD = ("python", "cuda", "numpy", "os")  # the facts about the build that a source states


class RecordsError(Exception):
    """Records cannot be read. The message has one line per problem."""


# --- what a record may contain --------------------------------------------------------------------


def _text(value: Any) -> str | None:
    if not isinstance(value, str):
        return "is not text"
    if len(value) > LONGEST:
        return f"is longer than {LONGEST} characters"
    if value.isascii() and value.isprintable():  # usually true; ten times faster than printable()
        return None
    return "contains characters that cannot be printed" if printable(value) != value else None


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
    """Checks the facts about the build that are not in the file's name."""
    if isinstance(value, dict) and set(value) != set(BUILD):
        return f"has keys other than {', '.join(BUILD)}"
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
    return "is not a version of torch" if checked.version(value) else None


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
    # tomorrow is valid, because it may already have begun elsewhere
    last = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    fine = FIRST_DAY <= value <= last.date().isoformat()
    return None if fine else f"is not between {FIRST_DAY} and tomorrow"


@dataclass(frozen=True)
class Source:
    """Who measured, with what, and where. The fields defined with key() are keys in the file."""

    kind: str = key(_one_of(KINDS))
    harness: str = key(_text)  # the version of this package
    command: str = key(_text)  # without paths; "" if unknown
    build: dict[str, Any] = key(_build_facts)
    # the name of the processor or GPU and, if any, its driver, cuDNN and so on
    hardware: dict[str, Any] = key(_facts)

    @cached_property
    def key(self) -> str:
        """A digest of the content, which is the same on every machine."""
        return _digest(asdict(self))


def _slug(gpu: str) -> str:
    """The part of a file name that identifies a GPU. It differs for "A B", "A-B" and "A/B"."""
    if re.fullmatch(r"[\w.+]+( [\w.+]+)*", gpu):
        return gpu
    return f"{gpu}-{hashlib.sha256(gpu.encode()).hexdigest()[:8]}"


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:12]


@dataclass
class Measurement:
    """The result of one reproducer on one build and device."""

    verdict: str = key(_one_of(VERDICTS))
    text: str = key(_text)
    detail: str = key(_text)
    popular_fix: str | None = key(_text_or_null)
    runs: int = key(_count)
    agreeing: int = key(_count)
    seconds: float = key(_amount)
    peak_mib: float = key(_amount)
    hash: str = key(_matches("[0-9a-f]{16}", "16 hexadecimal digits"))
    date: str = key(_date)
    source: Source = key(_matches("[0-9a-f]{12}", "the key of a source"))  # stored as its key
    said: str = key(_text, default="")  # the return value of messages(), if it exists

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
        """True if a text in this run matches the pattern."""
        texts = (" ".join(text.split()) for text in (self.text, self.said))
        return any(re.search(pattern, text, re.IGNORECASE) for text in texts)

    def is_stale(self, reproducer: Reproducer) -> bool:
        return self.hash != reproducer.hash

    def agrees_with(self, other: Measurement) -> bool:
        """True if code and outcome are equal. Numbers in texts may differ from run to run."""
        return self._outcome == other._outcome

    @property
    def _outcome(self) -> tuple[str, str, bool | None]:
        return self.hash, self.verdict, None if self.popular_fix is None else bool(self.popular_fix)

    def __str__(self) -> str:
        return f"{self.verdict} ({self.agreeing} of {self.runs}, {self.date})"


@dataclass
class Record:
    """One record file."""

    device: str = key(_one_of(DEVICES))
    torch: str = key(_version)  # the build: "2.4.1+cu121"
    platform: str = key(_text)  # sys.platform
    machine: str = key(_text)  # "x86_64"
    gpu: str = key(_text, default="")  # the name of the GPU, or "" on the CPU
    virtual: bool = key(_flag, default=False)  # True for a virtual GPU
    # the release of macOS, which affects results on MPS; "" elsewhere
    system: str = key(_text, default="")
    measurements: dict[str, Measurement] = field(default_factory=dict)

    @property
    def minor(self) -> str:
        return torches.minor(self.torch)

    @property
    def name(self) -> str:
        """The file name, which is the same on every machine, so that files can be merged."""
        gpu = [] if self.device == "cpu" else [_slug(self.gpu or "unknown")]
        parts = [self.device, *gpu, "paravirtual" if self.virtual else "", self.system]
        parts += [f"{self.platform}-{self.machine}", f"torch-{self.torch}"]
        return "_".join(re.sub(r"[^\w.+]+", "-", part) for part in parts if part).lower() + ".json"

    def path(self, folder: Path) -> Path:
        return folder / self.name

    def to_json(self) -> dict[str, Any]:
        head = {key: getattr(self, key) for key in checked.keys(Record)}
        optional = {name: item.default for name, item in checked.keys(Record).items()}
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


# --- from parsed JSON -----------------------------------------------------------------------------


def parse(raw: Any, name: str, ids: Container[str] | None = None) -> tuple[Record | None, Problems]:
    """Returns the valid part of a parsed record (None if its head is invalid), and its problems.

    With `ids`, ignores the measurements of all other reproducers, which saves two thirds of the
    time.
    """
    if not isinstance(raw, dict):
        return None, [("", f"not a record: expected an object, found {reprlib.repr(raw)}")]
    head = {key: value for key, value in raw.items() if key not in ("sources", "measurements")}
    problems = [(key, f"{key}: {problem}") for key, problem in checked.problems(Record, head)]
    for part in ("sources", "measurements"):
        if not isinstance(raw.get(part), dict):
            shown = reprlib.repr(raw.get(part))
            problems.append((part, f"{part}: expected an object, found {shown}"))
    if problems:
        return None, problems
    record = Record(**head)
    if record.name != name:
        return None, [("torch", f"this record should be called {record.name}")]
    if not raw["measurements"]:
        return None, [("measurements", "an empty record: it was made without a single run")]
    sources = {}
    for digest, value in raw["sources"].items():
        if wrong := _wrong_source(digest, value):
            problems += [(digest, f"source {digest}: {problem}") for problem in wrong]
        else:
            sources[digest] = Source(**value)
    for id, value in raw["measurements"].items():
        if ids is not None and id not in ids:
            continue
        if wrong := _wrong_measurement(id, value, raw["sources"]):
            problems += [(id, f"{id}: {problem}") for problem in wrong]
        elif value["source"] in sources:  # a bad source was reported above
            record.measurements[id] = Measurement(**{**value, "source": sources[value["source"]]})
    return (record if record.measurements else None), problems


def _wrong_source(key: str, raw: Any) -> list[str]:
    wrong = checked.sentences(Source, raw)
    if not wrong and key != _digest(raw):
        wrong = [f"its content was changed: the key of this content is {_digest(raw)}"]
    return wrong


_ID = re.compile(r"\w[\w.-]*/\w[\w.-]*")


def _wrong_measurement(id: str, raw: Any, sources: dict[str, Any]) -> list[str]:
    if wrong := checked.sentences(Measurement, raw):
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
