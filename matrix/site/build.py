"""Builds the static site for `nox -s site` and `torch-repros site`.

The site makes no requests and is readable without JavaScript.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from .. import HOME, __version__, causes, torches
from ..catalog import KINDS, ORIGINS, PAGE_KEYS, Reproducer
from ..causes import Cause
from ..devices import DEVICES
from ..diagnose import checklists
from ..diagnose.checklists import Checklist
from ..evidence.schema import Measurement, Record
from ..evidence.states import BY_NAME, EXPECTED, ROWS
from ..explain import compare, explain
from ..explain.search import STOP_WORDS, phrases_of
from ..explain.text import NOT_MEASURED, Measured
from . import exports, markup
from .failure import Failure, Group, evidence, fix_source, related

TEMPLATES = Path(__file__).with_name("templates")
MANIFEST = (
    ".torch-repros-site"  # lists the files of a build, so that the next build deletes only these
)

DESCRIPTION = 300  # characters, more than search engines show

# What only an answer shows, of a reproducer and of a cause
SHOWN_KEYS = ("wrong", "right", "right_requires", "use", "choice")
SHOWN_IN_CAUSES = ("check", "wrong", "right", "requires", "source")
# Short texts for a narrow column; ORIGINS has the full texts.
WHOSE = {"torch": "PyTorch bug", "design": "by design", "usage": "calling code"}


class SiteError(Exception):
    """The folder contains files that were not written by a build."""


def build(
    folder: Path, reproducers: list[Reproducer], records: list[Record], url: str = ""
) -> list[Path]:
    """Writes the site and returns its files. `url` is the future address of the site, if known.

    If the folder contains files that were not written by a build, raises SiteError without changing
    anything.
    """
    earlier = _earlier(folder)
    names: list[str] = []
    folders: set[Path] = set()
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / MANIFEST
    with manifest.open("a", encoding="utf-8", buffering=1) as listed:
        for name, text in pages(reproducers, records, url):
            path = folder / name
            if path.parent not in folders:
                path.parent.mkdir(parents=True, exist_ok=True)
                folders.add(path.parent)
            listed.write(f"{name}\n")  # first, so that the files of an interrupted build are known
            path.write_bytes(text.encode())
            names.append(name)
    for name in earlier.difference(names):
        if ".." not in name.split("/") and not Path(name).is_absolute():
            (folder / name).unlink(missing_ok=True)
    manifest.write_text("\n".join(names) + "\n", encoding="utf-8")
    return [folder / name for name in names]


def _earlier(folder: Path) -> set[str]:
    """The names of the files that were written by earlier builds."""
    manifest = folder / MANIFEST
    if manifest.is_file():
        return set(manifest.read_text(encoding="utf-8").splitlines())
    if folder.exists() and any(folder.iterdir()):
        raise SiteError(
            f"{folder} is not empty and was not built by this tool; choose another folder"
        )
    return set()


def pages(
    reproducers: list[Reproducer], records: list[Record], url: str = ""
) -> Iterator[tuple[str, str]]:
    """Yields (name, text) for every file on the site."""
    return Site(reproducers, records, url).files()


class Site:
    """The data for the site's files, with a method for each kind of file."""

    def __init__(self, reproducers: list[Reproducer], records: list[Record], url: str) -> None:
        self.reproducers = reproducers
        self.url = f"{url.rstrip('/')}/" if url else ""
        self.measured = Measured.load(records)
        by_id = {reproducer.id: reproducer for reproducer in reproducers}
        groups = [Group(group, by_id) for group in causes.load()]
        self.groups = [group for group in groups if group.reproducers or group.texts]
        self.failures = [Failure(reproducer, self.measured, groups) for reproducer in reproducers]
        # retired failures keep their pages
        self.shown = [failure for failure in self.failures if failure.reproducer.is_current]
        self.failure_of = {failure.id: failure for failure in self.failures}
        self.measurements = _by_id(records)
        self.environment = _environment(self.failures, self.measured.minors, records, self.url)
        self.draw = _drawer(self.environment, self.measured.minors)
        self.addresses: list[str] = []  # the addresses of the pages rendered so far

    def files(self) -> Iterator[tuple[str, str]]:
        """Yields (name, text) for each file. The site map is last, because it lists all pages."""
        yield self.index()
        yield "data.js", f"const DATA = {_json(data(self.shown, self.groups))};\n"
        yield "details.js", f"const DETAILS = {_json(details(self.shown))};\n"
        for failure in self.failures:
            yield from self.files_of(failure)
        yield from self.lists()
        for group in self.groups:
            yield self.message(group)
        for checklist in checklists.load():
            yield self.checklist(checklist)
        for module in sorted({failure.module for failure in self.failures} - {""}):
            yield f"fixes/{module}.py", fix_source(module)
        for name in ("style.css", "page.js"):
            yield name, (TEMPLATES / name).read_text(encoding="utf-8")
        yield from self.exports()
        yield from self.site_map()

    def page(
        self, template: str, name: str, title: str, description: str, **values: Any
    ) -> tuple[str, str]:
        """Renders a page, and adds its address to the site map."""
        address = self.url + ("" if name == "index.html" else name)
        self.addresses.append(address)
        text = self.environment.get_template(template).render(
            root="../" * name.count("/"),
            title=title,
            description=" ".join(description.split())[:DESCRIPTION],
            address=address,
            wrong_answer=_wrong_answer(values.get("failure")),
            **values,
        )
        return name, text

    def index(self) -> tuple[str, str]:
        minors, shown = self.measured.minors, self.shown
        return self.page(
            "index.html",
            "index.html",
            "Why does my PyTorch training fail? - torch-repros",
            "Paste a PyTorch traceback and get its cause, its fix, and the affected releases of "
            f"torch: {len(shown)} failures of training, from torch {minors[0]} to {minors[-1]}.",
            failures=shown,
            families=list(dict.fromkeys(failure.family for failure in shown)),
            kinds=[kind for kind in KINDS if any(failure.kind == kind for failure in shown)],
            groups=self.groups,
            checklists=checklists.load(),
            ranged=_ranged(self.environment),
        )

    def lists(self) -> Iterator[tuple[str, str]]:
        """The pages that list all checklists and all messages."""
        every = checklists.load()
        yield self.page(
            "list.html",
            "diagnose/index.html",
            "What to check if training raises no error - torch-repros",
            f"{len(every)} checklists for vague symptoms, from a loss that does not fall to memory "
            "that grows. Each check is a few lines of code.",
            heading="No error, but something is wrong?",
            lead="Each checklist has a few checks in code, and explains what each result means.",
            links=[(f"{checklist.name}.html", checklist.title) for checklist in every],
        )
        yield self.page(
            "list.html",
            "messages/index.html",
            "PyTorch's error messages and their causes - torch-repros",
            f"{len(self.groups)} error messages of PyTorch training, each with its possible causes "
            "and a check for each cause.",
            heading="Error messages and their causes",
            lead="Each message has a page with its possible causes, and a check for each cause.",
            links=[(f"{group.name}.html", group.title) for group in self.groups],
        )

    def files_of(self, failure: Failure) -> Iterator[tuple[str, str]]:
        """Yields the page, the program and the data of a failure."""
        pairs = self.measurements.get(failure.id, [])
        texts = [message for message in failure.messages if len(message) < DESCRIPTION]
        description = f"{' / '.join([*texts, failure.title])}. {' '.join(failure.why)}"
        yield self.page(
            "failure.html",
            f"bugs/{failure.id}.html",
            f"{failure.title.replace('`', '')} - torch-repros",
            description.replace("`", ""),
            failure=failure,
            draw=self.draw,
            related=related(failure, self.shown),
            left=failure.left(pairs),
            **evidence(failure.reproducer, pairs),
        )
        yield f"bugs/{failure.id}.py", failure.reproducer.source
        verdicts = exports.failure(failure.reproducer, self.measured, failure.ranges)
        yield f"bugs/{failure.id}.json", _json(verdicts) + "\n"

    def message(self, group: Group) -> tuple[str, str]:
        """The page for a message with several causes."""
        return self.page(
            "message.html",
            f"messages/{group.name}.html",
            f"{group.title} - torch-repros",
            f"{group.title}: {len(group.causes)} possible cause{'s' * (len(group.causes) > 1)}, "
            "each with a check. " + "; ".join(cause.cause for cause in group.causes),
            group=group,
            by_id=self.failure_of,
        )

    def checklist(self, checklist: Checklist) -> tuple[str, str]:
        """The page for a vague symptom."""
        steps = [checklists.steps()[name] for name in checklist.steps]
        return self.page(
            "checklist.html",
            f"diagnose/{checklist.name}.html",
            f"{checklist.title}: what to check - torch-repros",
            f"{checklist.title}: {len(steps)} checks in code, and what each result means. "
            + " ".join(step.question for step in steps),
            checklist=checklist,
            introduction=checklist.introduction,
            steps=steps,
            by_id=self.failure_of,
        )

    def exports(self) -> Iterator[tuple[str, str]]:
        """Yields the data of all failures for other programs, and the feed."""
        yield "grid.json", _json(exports.grid(self.reproducers, self.measured)) + "\n"
        yield "schema.json", json.dumps(exports.schema(), indent=1) + "\n"
        current = [failure.reproducer for failure in self.shown]
        yield "changes.xml", _feed(self.environment, exports.changes(current, self.measured))

    def site_map(self) -> Iterator[tuple[str, str]]:
        """Yields the files for search engines, if the site's address is known."""
        if self.url:
            text = self.environment.get_template("sitemap.xml").render(addresses=self.addresses)
            yield "sitemap.xml", text
            robots = f"User-agent: *\nAllow: /\nSitemap: {self.url}sitemap.xml\n"
            yield "robots.txt", robots


def _by_id(records: list[Record]) -> dict[str, list[tuple[Record, Measurement]]]:
    """The measurements of each reproducer, oldest torch first, in the order of DEVICES."""
    pairs: dict[str, list[tuple[Record, Measurement]]] = {}
    for record in sorted(records, key=lambda record: DEVICES.index(record.device)):
        for id, measurement in record.measurements.items():
            pairs.setdefault(id, []).append((record, measurement))
    return pairs


def _environment(
    failures: list[Failure], minors: list[str], records: list[Record], url: str
) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        auto_reload=False,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        code=markup.code,
        prose=markup.prose,
        sentence=checklists.sentence,
        python=markup.python,
        thread=markup.thread,
        urn=lambda name: uuid.uuid5(uuid.NAMESPACE_URL, name).urn,
    )
    states = {state for failure in failures for row in failure.rows.values() for state in row}
    dates = [measurement.date for record in records for measurement in record.measurements.values()]
    environment.globals.update(
        minors=minors,
        states=BY_NAME,
        shown=[row for row in ROWS if row.name in states],
        devices=DEVICES,
        origins=WHOSE,
        home=HOME,
        url=url,
        not_measured=NOT_MEASURED,
        version=__version__,
        measured=len(dates),
        oldest=min(dates, default="never"),
        newest=max(dates, default="never"),
    )
    macros = environment.get_template("macros.html").module
    # These parts occur on every page, but are rendered only once.
    environment.globals.update(legend=macros.legend(), heads=macros.heads())  # type: ignore[attr-defined]
    return environment


def _drawer(environment: jinja2.Environment, minors: list[str]) -> Callable[[list[str]], Markup]:
    """A function draw(states) that returns a row of cells. Equal cells are rendered only once."""
    macro = environment.get_template("macros.html").module.cell  # type: ignore[attr-defined]

    @cache
    def cell(state: str, minor: str) -> str:
        return str(macro(state, minor))

    return lambda states: Markup("".join(map(cell, states, minors)))


def _ranged(environment: jinja2.Environment) -> Callable[[Failure, str], Markup]:
    """A function ranged(failure, device) that returns the content of a cell in the index."""
    macro = environment.get_template("macros.html").module.range  # type: ignore[attr-defined]

    def ranged(failure: Failure, device: str) -> Markup:
        return Markup("").join(macro(line) for line in failure.ranges if line.device == device)

    return ranged


def _wrong_answer(failure: Failure | None) -> str:
    """The address of the form for reporting a wrong answer."""
    title = f"&title={quote(f'Wrong answer: {failure.id}')}" if failure else ""
    return f"{HOME}/issues/new?template=wrong_answer.yml{title}"


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def data(failures: list[Failure], groups: list[Group]) -> dict[str, Any]:
    """The data of the page's script: patterns of the headers, lists of causes, cells."""
    pages = {group.name for group in groups}
    return {
        "entries": [
            {
                **{
                    key: getattr(failure.reproducer, key)
                    for key in ("id", *PAGE_KEYS)
                    if key not in SHOWN_KEYS
                },
                "messages": failure.reproducer.texts,
                "words": _words(failure.reproducer),
                "cells": failure.cells,
                "never": [
                    name for name, value in failure.reproducer.affected.items() if value == "never"
                ],
            }
            for failure in failures
        ],
        "causes": [
            {
                "title": group.title,
                "texts": group.texts,
                "raised": group.was_raised,
                "general": group.is_general,
                "anywhere": group.anywhere,
                "order": group.order,
                "keywords": group.keywords,
                "causes": [_part(cause, shown=False) for cause in group.causes],
                "name": group.name,
                "page": f"messages/{group.name}.html" if group.name in pages else "",
            }
            for group in causes.load()
        ],
        "example": (TEMPLATES / "example.txt").read_text(encoding="utf-8"),
        "ignored": sorted(STOP_WORDS),
        "origins": ORIGINS,
        "minors": [torch.minor for torch in torches.load()],
        "signs": {row.sign: row.name for row in ROWS},
        "expected": {word[0]: word for word in EXPECTED.values()},
        "headings": {name: compare.CHANGES[name] for name in compare.BY_STATES.values()},
        "changes": {" ".join(pair): name for pair, name in compare.BY_STATES.items()},
        **explain.JS_DATA,
    }


def details(failures: list[Failure]) -> dict[str, Any]:
    """The parts of the entries and causes of data() that only an answer shows, in their order."""
    return {
        "entries": [
            {
                **{key: getattr(failure.reproducer, key) for key in SHOWN_KEYS},
                "notes": failure.notes,
                "why": " ".join(failure.why),
            }
            for failure in failures
        ],
        "causes": [[_part(cause, shown=True) for cause in group.causes] for group in causes.load()],
    }


def _part(cause: Cause, shown: bool) -> dict[str, Any]:
    """The fields of a cause that are set, either those that only an answer shows or the others."""
    return {
        key: value
        for key, value in cause.as_json().items()
        if value and (key in SHOWN_IN_CAUSES) is shown
    }


def _words(reproducer: Reproducer) -> str:
    """The words in the search phrases, for a filter that matches parts of words.

    Each word is listed once, and only if it does not occur in the id, the title or the messages.
    (The complete phrases would double the size of the page.)
    """
    text = " ".join([reproducer.id, reproducer.title, *reproducer.texts]).lower()
    words: list[str] = []
    phrases = " ".join(phrases_of(reproducer.id)).lower().split()
    for word in sorted(set(phrases), key=len, reverse=True):
        if word not in STOP_WORDS and not any(word in other for other in (text, *words)):
            words.append(word)
    return " ".join(sorted(words))


def _feed(environment: jinja2.Environment, changes: list[exports.Change]) -> str:
    """A feed of the failures that each release of torch introduced and fixed."""
    listed = environment.get_template("change.html")
    return environment.get_template("changes.xml").render(
        entries=[
            (change, listed.render(one=change, headings=compare.CHANGES)) for change in changes
        ],
        newest_change=max((change.date for change in changes), default="1970-01-01"),
    )
