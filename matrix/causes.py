"""Reads causes.toml: messages with several causes, and a check that identifies each cause."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import chain, repeat
from pathlib import Path

from . import catalog, checked, toml
from .catalog import Reproducer
from .checked import key, string, strings

CAUSES = Path(__file__).with_name("causes.toml")


@dataclass(frozen=True, kw_only=True)
class Cause:
    cause: str = key(string)
    check: str = key(string)  # how to recognize this cause
    see: str = key(string, default="")  # the id of a reproducer that has this cause
    line: int  # in causes.toml

    def as_json(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in checked.keys(Cause)}


def _tables(value: object) -> str | None:
    return None if isinstance(value, list) and value else "is not a list of causes"


@dataclass(frozen=True, kw_only=True)
class Group:
    """One message and its causes."""

    title: str = key(string)
    causes: tuple[Cause, ...] = key(_tables)  # the most likely first
    keywords: tuple[str, ...] = key(strings, default=())  # the symptom in users' words
    line: int

    def reproducers(self, by_id: dict[str, Reproducer]) -> list[Reproducer]:
        return [by_id[cause.see] for cause in self.causes if cause.see in by_id]


@cache
def load() -> list[Group]:
    """Every valid group of causes.toml. Raises TOMLDecodeError."""
    return _read()[0]


def problems(reproducers: list[Reproducer]) -> list[str]:
    """One line per problem in causes.toml: unknown keys and ids, an id in two groups, or a message
    shared by reproducers that are not in the same group.
    """
    try:
        groups, wrong = _read()
    except toml.TOMLDecodeError as error:
        place = re.search(r"line (\d+)", str(error))
        return [_at(int(place[1]) if place else 1, f"not TOML: {error}")]
    if wrong:  # the other checks would only report these groups as missing
        return wrong
    reproducers = [reproducer for reproducer in reproducers if reproducer.is_current]
    known_ids = {reproducer.id for reproducer in reproducers}
    group_of: dict[str, Group] = {}
    for group in groups:
        for cause in group.causes:
            if not cause.see:
                continue
            if cause.see not in known_ids:
                problem = f"no reproducer {cause.see!r}, or a retired one"
                wrong.append(_at(cause.line, f"{group.title!r}: {problem}"))
            if other := group_of.get(cause.see):
                both = f"{other.title!r} (line {other.line}) and {group.title!r}"
                wrong.append(_at(cause.line, f"{cause.see!r} is listed under both {both}"))
            group_of[cause.see] = group
    sharing: dict[str, list[str]] = {}
    for reproducer in reproducers:
        for pattern in reproducer.texts:
            sharing.setdefault(pattern, []).append(reproducer.id)
    for pattern, ids in sharing.items():
        lines = {group_of[id].line if id in group_of else 0 for id in ids}
        if len(ids) > 1 and (len(lines) > 1 or 0 in lines):
            sentence = f"{', '.join(ids)} share {pattern!r} and are not in one group"
            wrong.append(_at(max(1, *lines), sentence))
    return wrong


def _at(line: int, problem: str) -> str:
    return f"{CAUSES}:{line}: {problem}"


def _read() -> tuple[list[Group], list[str]]:
    """The valid groups, and one line per problem in the other groups."""
    source = CAUSES.read_text(encoding="utf-8")
    groups: list[Group] = []
    problems = []
    parsed = toml.loads(source).get("message", [])
    for number, (raw, place) in enumerate(zip(parsed, _places(source)), 1):
        wrong = [
            (place.keys.get(name, place.line), f"{name}: {problem}")
            for name, problem in checked.problems(Group, raw)
        ]
        causes = []
        raw_causes = raw.get("causes") if isinstance(raw.get("causes"), list) else []
        for cause, line in zip(raw_causes, chain(place.causes, repeat(place.line))):
            if sentences := checked.sentences(Cause, cause):
                wrong += [(line, sentence) for sentence in sentences]
            elif unfilled := [name for name, text in cause.items() if catalog.FILL_IN in text]:
                wrong.append((line, f"not filled in: {', '.join(unfilled)}"))
            else:
                causes.append(Cause(**cause, line=line))
        if wrong:
            title = raw.get("title", f"message {number}")
            problems += [_at(line, f"{title!r}: {sentence}") for line, sentence in wrong]
        else:
            keywords = tuple(raw.get("keywords", ()))
            title = raw["title"]
            groups.append(
                Group(title=title, causes=tuple(causes), keywords=keywords, line=place.line)
            )
    return groups, problems


@dataclass
class _Place:
    """The line numbers of one [[message]], which TOML parsers do not provide."""

    line: int
    keys: dict[str, int] = field(default_factory=dict)
    causes: list[int] = field(default_factory=list)


def _places(source: str) -> list[_Place]:
    places: list[_Place] = []
    for number, line in enumerate(source.splitlines(), 1):
        if line.startswith("[[message]]"):
            places.append(_Place(number))
        elif match := re.match(r"(\w+) =", line):
            places[-1].keys[match[1]] = number
        elif line.startswith("    {"):
            places[-1].causes.append(number)
    return places
