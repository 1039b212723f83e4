"""The static site: `nox -s site`, or `torch-repros site`.

It makes no requests, and is readable without JavaScript.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

from .. import __version__, causes
from ..catalog import KINDS, ORIGINS, PAGE_KEYS, Reproducer
from ..devices import DEVICES
from ..evidence.records import Measurement, Record
from ..evidence.states import BY_NAME, EXPECTED, ROWS
from . import compare, explain
from .search import STOP_WORDS
from .text import Measured, whose

TEMPLATES = Path(__file__).with_name("templates")
MANIFEST = (
    ".torch-repros-site"  # the files that a build wrote, so that the next one deletes nothing else
)

SHOWN = 1_500  # characters of a recorded text: dispatcher errors run to 13,000, once a release


class SiteError(Exception):
    """The folder holds files that no build wrote."""


def build(folder: Path, reproducers: list[Reproducer], records: list[Record]) -> list[Path]:
    """Writes the site and returns its files.

    Raises SiteError, with nothing changed, where the folder is not its own.
    """
    earlier = _earlier(folder)
    names: list[str] = []
    made: set[Path] = set()
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / MANIFEST
    with manifest.open("a", encoding="utf-8", buffering=1) as listed:
        for name, text in pages(reproducers, records):
            path = folder / name
            if path.parent not in made:
                path.parent.mkdir(parents=True, exist_ok=True)
                made.add(path.parent)
            listed.write(f"{name}\n")  # first: what an interrupted build wrote is known too
            path.write_bytes(text.encode())
            names.append(name)
    for name in earlier.difference(names):
        if ".." not in name.split("/") and not Path(name).is_absolute():
            (folder / name).unlink(missing_ok=True)
    manifest.write_text("\n".join(names) + "\n", encoding="utf-8")
    return [folder / name for name in names]


def _earlier(folder: Path) -> set[str]:
    """What earlier builds wrote."""
    manifest = folder / MANIFEST
    if manifest.is_file():
        return set(manifest.read_text(encoding="utf-8").splitlines())
    if folder.exists() and any(folder.iterdir()):
        raise SiteError(
            f"{folder} is not empty and was not built by this tool; choose another folder"
        )
    return set()


def pages(reproducers: list[Reproducer], records: list[Record]) -> Iterator[tuple[str, str]]:
    """(name, text) of every file of the site."""
    measured = Measured.load(records)
    bugs = [Bug(reproducer, measured) for reproducer in reproducers]
    shown = [bug for bug in bugs if not bug.retired]  # the others keep their pages
    measurements = _by_id(records)
    environment = _environment(bugs, measured.minors, records)
    draw = _drawer(environment, measured.minors)
    yield (
        "index.html",
        environment.get_template("index.html").render(
            root="",
            bugs=shown,
            families=list(dict.fromkeys(bug.family for bug in shown)),
            devices=DEVICES,
            kinds=[kind for kind in KINDS if any(bug.kind == kind for bug in shown)],
            data=data([bug.reproducer for bug in shown]),
            draw=draw,
        ),
    )
    template = environment.get_template("bug.html")
    for bug in bugs:
        facts = evidence(bug.reproducer, measurements.get(bug.id, []))
        text = template.render(root="../../", bug=bug, draw=draw, **facts)
        yield f"bugs/{bug.id}.html", text
    for name in ("style.css", "page.js"):
        yield name, (TEMPLATES / name).read_text(encoding="utf-8")


def _by_id(records: list[Record]) -> dict[str, list[tuple[Record, Measurement]]]:
    """The measurements of each reproducer, oldest torch first, in the order of DEVICES."""
    found: dict[str, list[tuple[Record, Measurement]]] = {}
    for record in sorted(records, key=lambda record: DEVICES.index(record.device)):
        for id, measurement in record.measurements.items():
            found.setdefault(id, []).append((record, measurement))
    return found


def _environment(bugs: list[Bug], minors: list[str], records: list[Record]) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        auto_reload=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["code"] = _code
    states = {state for bug in bugs for row in bug.rows.values() for state in row}
    dates = [one.date for record in records for one in record.measurements.values()]
    environment.globals.update(
        minors=minors,
        states=BY_NAME,
        shown=[row for row in ROWS if row.name in states],
        version=__version__,
        measured=len(dates),
        oldest=min(dates, default="never"),
        newest=max(dates, default="never"),
    )
    macros = environment.get_template("macros.html").module
    # Every page has them: rendered once, not once per page.
    environment.globals.update(legend=macros.legend(), heads=macros.heads())  # type: ignore[attr-defined]
    return environment


def _drawer(environment: jinja2.Environment, minors: list[str]) -> Callable[[list[str]], Markup]:
    """draw(states) is a row of cells. Each cell is rendered once, not once per reproducer."""
    macro = environment.get_template("macros.html").module.cell  # type: ignore[attr-defined]

    @cache
    def cell(state: str, minor: str) -> str:
        return str(macro(state, minor))

    return lambda states: Markup("".join(map(cell, states, minors)))


def _code(text: str) -> Markup:
    """`code` between backticks, as HTML."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def data(reproducers: list[Reproducer]) -> Markup:
    """What the page's script knows: the patterns of the headers and the lists of causes."""
    text = json.dumps(
        {
            "entries": [
                {
                    **{key: getattr(reproducer, key) for key in ("id", *PAGE_KEYS)},
                    "words": _words(reproducer),
                }
                for reproducer in reproducers
            ],
            "causes": [{key: group[key] for key in ("title", "causes")} for group in causes.load()],
            "ignored": sorted(STOP_WORDS),
            "origins": ORIGINS,
            "expected": {word[0]: word for word in EXPECTED.values()},
            "headings": {name: compare.CHANGES[name] for name in compare.BY_STATES.values()},
            "changes": {" ".join(pair): name for pair, name in compare.BY_STATES.items()},
            **explain.JS_DATA,
        },
        separators=(",", ":"),
    )
    # "</script" would end the element and "<!--" would hide its end: no "<" at all is simplest
    return Markup(text.replace("<", "\\u003c"))


def _words(reproducer: Reproducer) -> str:
    """The words of its keywords for the filter, which finds parts of words: each once, and none
    that its id, title or messages hold. (The keywords themselves would double the page.)
    """
    said = " ".join([reproducer.id, reproducer.title, *reproducer.messages]).lower()
    words: list[str] = []
    for word in sorted(set(" ".join(reproducer.keywords).lower().split()), key=len, reverse=True):
        if word not in STOP_WORDS and not any(word in other for other in (said, *words)):
            words.append(word)
    return " ".join(sorted(words))


class Bug:
    """What the templates show of one reproducer."""

    def __init__(self, reproducer: Reproducer, measured: Measured) -> None:
        self.reproducer = reproducer
        self.id, self.family, self.kind = reproducer.id, reproducer.family, reproducer.kind
        self.title, self.retired = reproducer.title, reproducer.retired
        self.origin = whose(reproducer)
        self.reports, self.documents = reproducer.reports, reproducer.documents
        self.wrong, self.right = reproducer.wrong.strip("\n"), reproducer.right.strip("\n")
        self.fixed_by, self.fixing_change = reproducer.fixed_by, reproducer.fixing_change
        self.upstream, self.stand_in = reproducer.upstream, reproducer.stand_in
        self.module, self.function = reproducer.fix_module, reproducer.fix_function
        standings = {
            device: measured.states.standings(reproducer, device, measured.minors)
            for device in reproducer.devices
        }
        self.rows = {
            device: [one.state for one in row.values()] for device, row in standings.items()
        }
        # Device -> a letter per release: what its header expects where nobody has measured it.
        self.expected = {
            device: "".join(" " if one.date else EXPECTED[one.expected][0] for one in row.values())
            for device, row in standings.items()
        }
        self.ranges = [measured.range(reproducer, *row) for row in standings.items()]

    @property
    def code(self) -> str:
        affected = [
            device
            for device in self.reproducer.devices
            if self.reproducer.affected[device] != "never"
        ]
        return self.reproducer.program((affected or self.reproducer.devices)[0])

    @property
    def control(self) -> str:
        return self.reproducer.function("control")

    @property
    def popular_fix(self) -> str:
        return self.reproducer.function("popular_fix")

    @property
    def cause(self) -> list[str]:
        return [" ".join(paragraph.split()) for paragraph in self.reproducer.doc.split("\n\n")]


def evidence(reproducer: Reproducer, measured: list[tuple[Record, Measurement]]) -> dict[str, Any]:
    """What it printed on the newest torch that shows it, and one line for all measurements that
    agree in everything.
    """
    fresh = [(record, one) for record, one in measured if not one.is_stale(reproducer)]
    texts = [one.text for _, one in fresh if one.verdict == "reproduced"]
    lines: dict[tuple[str, ...], list[str]] = {}
    for record, one in fresh:
        runs = f"{one.agreeing} of {one.runs}"
        lines.setdefault(
            (record.device, one.verdict, runs, one.date, _start(one.text or one.detail)), []
        ).append(record.torch)
    keys = ("device", "verdict", "runs", "date", "text")
    table = [{**dict(zip(keys, line)), "torch": ", ".join(torch)} for line, torch in lines.items()]
    return {"seen": _start(texts[-1]) if texts else "", "evidence": table}


def _start(text: str) -> str:
    """Enough to know it again; the records hold all of it."""
    rest = len(text) - SHOWN
    return text if rest <= 0 else f"{text[:SHOWN]}... [{rest} characters more]"
