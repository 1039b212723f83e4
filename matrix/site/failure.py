"""What the site shows of one reproducer, and of a message that has several causes."""

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

SHOWN = 1_500  # characters of a recorded text: dispatcher errors run to 13,000, once a release
TEXTS = 3  # recorded texts on a page: the newest wordings
RELATED = 5  # of a family, where nothing else relates them
# What differs from run to run and says nothing: a process, an address, a line.
_OF_ONE_RUN = re.compile(r"0x[0-9a-f]+|(?<=line )\d+|\d{4,}", re.IGNORECASE)


class Group:
    """A message that has several causes."""

    def __init__(self, group: causes.Group, by_id: dict[str, Reproducer]) -> None:
        self.title = group.title
        plain = re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")
        self.slug = plain[:60].rpartition("-")[0] if len(plain) > 60 else plain
        self.causes = [
            cause if cause.see in by_id else replace(cause, see="") for cause in group.causes
        ]
        self.reproducers = group.reproducers(by_id)

    @property
    def messages(self) -> list[str]:
        """The wordings that are not in its title."""
        found = (wording.readable(one) for each in self.reproducers for one in each.texts)
        return [one for one in dict.fromkeys(found) if one.lower() not in self.title.lower()]


class Seen(NamedTuple):
    """A recorded text."""

    where: str  # "2.4 to 2.15, cpu"
    text: str


class Failure:
    """What the templates show of one reproducer."""

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
            device: [one.state for one in row.values()] for device, row in self.standings.items()
        }
        self.ranges = [
            ranges.load(device, row, measured.releases, reproducer.stand_in.get(device, ""))
            for device, row in self.standings.items()
        ]

    @property
    def cells(self) -> dict[str, list[str]]:
        """Device -> a sign per release, and a letter for what its header expects where nobody has
        measured it.
        """
        return {
            device: [
                "".join(BY_NAME[one.state].sign for one in row.values()),
                "".join(" " if one.date else EXPECTED[one.expected][0] for one in row.values()),
            ]
            for device, row in self.standings.items()
        }

    @property
    def device(self) -> str:
        """The first on which it fails."""
        affected = self.reproducer.affected
        devices = self.reproducer.devices
        return next((one for one in devices if affected[one] != "never"), devices[0])

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
        """Its docstring, by paragraphs: what is seen, the cause, why the popular fix fails."""
        return [" ".join(one.split()) for one in self.reproducer.doc.split("\n\n")]

    def left(self, found: list[tuple[Record, Measurement]]) -> Seen | None:
        """What the popular fix left on the newest torch that has the failure."""
        texts = [
            Seen(f"{record.minor}, {record.device}", _start(one.popular_fix))
            for record, one in found
            if not one.is_stale(self.reproducer) and one.verdict == "reproduced" and one.popular_fix
        ]
        return texts[-1] if texts else None


def related(failure: Failure, shown: list[Failure]) -> dict[str, list[Failure]]:
    """Heading -> failures, each under the first that fits."""
    sees = {one.id for group in failure.groups for one in group.reproducers}
    others = [one for one in shown if one.id != failure.id]
    tests: dict[str, Callable[[Failure], bool]] = {
        "The same message": lambda one: one.id in sees,
        f"The same fix, {failure.function}()": lambda one: (
            bool(failure.module) and one.reproducer.fix == failure.reproducer.fix
        ),
        f"Also in {failure.family}: {failure.whose}": lambda one: (
            (one.family, one.origin) == (failure.family, failure.origin)
        ),
    }
    found: dict[str, list[Failure]] = {}
    for heading, fits in tests.items():
        named = {one.id for several in found.values() for one in several}
        fitting = [one for one in others if fits(one) and one.id not in named]
        if heading.startswith("Also"):  # those that follow it, so that every one is named somewhere
            fitting = sorted(fitting, key=lambda one: (one.id < failure.id, one.id))[:RELATED]
        if fitting:
            found[heading] = fitting
    return found


def evidence(reproducer: Reproducer, measured: list[tuple[Record, Measurement]]) -> dict[str, Any]:
    """The texts that were recorded, newest first, the messages that none of them has, and one line
    for all measurements that agree in everything.
    """
    fresh = [(record, one) for record, one in measured if not one.is_stale(reproducer)]
    texts: dict[tuple[str, str], list[tuple[Record, Measurement]]] = {}
    lines: dict[tuple[str, ...], list[str]] = {}
    for record, one in fresh:
        if one.verdict == "reproduced":
            key = (_OF_ONE_RUN.sub("", one.text), record.device)
            texts.setdefault(key, []).append((record, one))
        runs = f"{one.agreeing} of {one.runs}"
        lines.setdefault(
            (record.device, one.verdict, runs, one.date, _start(one.text or one.detail)), []
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
        if not any(re.search(pattern, one.text, re.IGNORECASE) for one in shown)
    ]
    return {"seen": shown, "others": list(dict.fromkeys(others)), "evidence": table}


def _start(text: str) -> str:
    """Enough to know it again; the records hold all of it."""
    rest = len(text) - SHOWN
    return text if rest <= 0 else f"{text[:SHOWN]}... [{rest} characters more]"


@cache
def fix_source(module: str) -> str:
    return (FIXES / f"{module}.py").read_text(encoding="utf-8")


@cache
def _fix_code(module: str, name: str) -> str:
    """The source of one public name of a fix, "" where it has none."""
    source = fix_source(module)
    for node in ast.parse(source).body:
        if getattr(node, "name", "") == name:
            assert isinstance(node, ast.FunctionDef | ast.ClassDef)
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            return "\n".join(source.splitlines()[first - 1 : node.end_lineno])
    return ""
