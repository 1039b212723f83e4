"""Prepares the site's data for reproducers and for messages with several causes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from .. import causes, torches
from ..catalog import FIXES, ORIGINS, Reproducer
from ..evidence.schema import Measurement, Record
from ..evidence.states import BY_NAME, EXPECTED
from ..explain import ranges, wording
from ..explain.text import Measured

SHOWN = 1_500  # maximum characters of a recorded text; each release has errors with 13,000
TEXTS = 3  # maximum number of recorded texts on a page (the newest wordings)
RELATED = 5  # maximum number of failures that are listed only because of their family
# Insignificant differences between runs, such as process ids, addresses and line numbers.
_OF_ONE_RUN = re.compile(r"0x[0-9a-f]+|(?<=line )\d+|\d{4,}", re.IGNORECASE)


class Group:
    """A message with several causes."""

    def __init__(self, group: causes.Group, by_id: dict[str, Reproducer]) -> None:
        self.title, self.name, self.was_raised = group.title, group.name, group.was_raised
        self.texts = group.texts
        self.causes = [
            cause if cause.see in by_id else replace(cause, see="") for cause in group.causes
        ]
        self.reproducers = group.reproducers(by_id)

    @property
    def messages(self) -> list[str]:
        """The wordings that do not occur in the title."""
        patterns = [text for reproducer in self.reproducers for text in reproducer.texts]
        texts = map(wording.readable, [*self.texts, *patterns])
        return [text for text in dict.fromkeys(texts) if text.lower() not in self.title.lower()]


class Seen(NamedTuple):
    """A recorded text."""

    where: str  # "2.4 to 2.15, cpu"
    text: str


class Failure:
    """The values of a reproducer that the templates show."""

    def __init__(self, reproducer: Reproducer, measured: Measured, groups: list[Group]) -> None:
        self.reproducer = reproducer
        self.id, self.family, self.name = reproducer.id, reproducer.family, reproducer.name
        self.kind, self.title, self.retired = reproducer.kind, reproducer.title, reproducer.retired
        self.origin, self.whose = reproducer.origin, ORIGINS[reproducer.origin]
        self.reports, self.documents = reproducer.reports, reproducer.documents
        self.wrong, self.right = reproducer.wrong.strip("\n"), reproducer.right.strip("\n")
        self.use, self.choice = reproducer.use.strip("\n"), reproducer.choice
        self.right_requires = reproducer.right_requires
        self.fixed_by, self.fixing_change = reproducer.fixed_by, reproducer.fixing_change
        self.upstream, self.upgrade = reproducer.upstream, reproducer.fix == "upgrade"
        self.module, self.function = reproducer.fix_module, reproducer.fix_function
        self.code = reproducer.code
        self.groups = [group for group in groups if reproducer in group.reproducers]
        notes = {pattern: measured.note(reproducer, pattern) for pattern in reproducer.texts}
        self.notes = {pattern: note for pattern, note in notes.items() if note}
        self.standings = {
            device: measured.states.standings(reproducer, device, measured.minors)
            for device in reproducer.devices
        }
        self.rows = {
            device: [standing.state for standing in row.values()]
            for device, row in self.standings.items()
        }
        self.ranges = [
            ranges.load(device, row, measured.releases, reproducer.stand_in.get(device, ""))
            for device, row in self.standings.items()
        ]

    @property
    def cells(self) -> dict[str, list[str]]:
        """Maps a device to a sign per release. Releases without measurements get a letter for the
        header's expectation.
        """
        return {
            device: [
                "".join(BY_NAME[standing.state].sign for standing in row.values()),
                "".join(
                    " " if standing.date else EXPECTED[standing.expected][0]
                    for standing in row.values()
                ),
            ]
            for device, row in self.standings.items()
        }

    @property
    def device(self) -> str:
        """The first affected device."""
        affected = self.reproducer.affected
        devices = self.reproducer.devices
        return next((name for name in devices if affected[name] != "never"), devices[0])

    @property
    def messages(self) -> list[str]:
        return list(dict.fromkeys(map(wording.readable, self.reproducer.texts)))

    @property
    def fix_code(self) -> str:
        return _fix_code(self.module, self.function)

    @property
    def popular_fix(self) -> str:
        return self.reproducer.function("popular_fix")

    @property
    def why(self) -> list[str]:
        """The docstring's paragraphs: the symptom, the cause, and why the popular fix fails."""
        return [" ".join(paragraph.split()) for paragraph in self.reproducer.doc.split("\n\n")]

    def left(self, pairs: list[tuple[Record, Measurement]]) -> Seen | None:
        """The symptom that the popular fix leaves on the newest torch with the failure."""
        texts = [
            Seen(f"{record.minor}, {record.device}", _start(measurement.popular_fix))
            for record, measurement in pairs
            if not measurement.is_stale(self.reproducer)
            and measurement.verdict == "reproduced"
            and measurement.popular_fix
        ]
        return texts[-1] if texts else None


def related(failure: Failure, shown: list[Failure]) -> dict[str, list[Failure]]:
    """Maps headings to failures, each of which is listed under the first heading that applies."""
    sees = {other.id for group in failure.groups for other in group.reproducers}
    others = [other for other in shown if other.id != failure.id]
    tests: dict[str, Callable[[Failure], bool]] = {
        "The same message": lambda other: other.id in sees,
        f"The same fix, {failure.function}()": lambda other: (
            bool(failure.module) and other.reproducer.fix == failure.reproducer.fix
        ),
        f"Also in {failure.family}: {failure.whose}": lambda other: (
            (other.family, other.origin) == (failure.family, failure.origin)
        ),
    }
    by_heading: dict[str, list[Failure]] = {}
    for heading, fits in tests.items():
        named = {other.id for several in by_heading.values() for other in several}
        fitting = [other for other in others if fits(other) and other.id not in named]
        if heading.startswith("Also"):  # the next failures, so that each is listed somewhere
            fitting = sorted(fitting, key=lambda other: (other.id < failure.id, other.id))[:RELATED]
        if fitting:
            by_heading[heading] = fitting
    return by_heading


def evidence(reproducer: Reproducer, measured: list[tuple[Record, Measurement]]) -> dict[str, Any]:
    """The recorded texts (newest first), the messages that do not occur in any of them, and one
    line for each set of identical measurements.
    """
    fresh = [
        (record, measurement)
        for record, measurement in measured
        if not measurement.is_stale(reproducer)
    ]
    texts: dict[tuple[str, str], list[tuple[Record, Measurement]]] = {}
    lines: dict[tuple[str, ...], list[str]] = {}
    for record, measurement in fresh:
        if measurement.verdict == "reproduced":
            key = (_OF_ONE_RUN.sub("", measurement.text), record.device)
            texts.setdefault(key, []).append((record, measurement))
        runs = f"{measurement.agreeing} of {measurement.runs}"
        lines.setdefault(
            (
                record.device,
                measurement.verdict,
                runs,
                measurement.date,
                _start(measurement.text or measurement.detail),
            ),
            [],
        ).append(record.torch)
    keys = ("device", "verdict", "runs", "date", "text")
    table = [{**dict(zip(keys, line)), "torch": ", ".join(torch)} for line, torch in lines.items()]
    releases = torches.load()
    seen = [
        Seen(
            f"{torches.span(list(dict.fromkeys(record.minor for record, _ in alike)), releases)}, "
            f"{device}",
            _start(alike[-1][1].text),
        )
        for (_, device), alike in texts.items()
    ]
    shown = seen[::-1][:TEXTS]
    others = [
        wording.readable(pattern)
        for pattern in reproducer.texts
        if not any(re.search(pattern, item.text, re.IGNORECASE) for item in shown)
    ]
    return {"seen": shown, "others": list(dict.fromkeys(others)), "evidence": table}


def _start(text: str) -> str:
    """The start of a text, long enough to recognize it. The records contain the complete text."""
    rest = len(text) - SHOWN
    return text if rest <= 0 else f"{text[:SHOWN]}... [{rest} characters more]"


@cache
def fix_source(module: str) -> str:
    return (FIXES / f"{module}.py").read_text(encoding="utf-8")


@cache
def _fix_code(module: str, name: str) -> str:
    """The source of a public name of a fix, or "" if the fix has no such name."""
    source = fix_source(module)
    for node in ast.parse(source).body:
        if getattr(node, "name", "") == name:
            assert isinstance(node, ast.FunctionDef | ast.ClassDef)
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    return ""
