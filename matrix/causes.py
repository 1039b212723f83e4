"""Reads messages/*.toml, which list messages with several causes and a check for each cause.

A message with `texts` has no reproducer. Its causes have `wrong` lines, which raise the message in
a test on every release of torch, or a source, for example because the message requires hardware
that is not available for measurements. The other messages are raised by the reproducers in `see`,
or have no pattern and are only found by their keywords. The messages in python.toml are errors of
Python itself and of other libraries. They are explained after the other messages, and only in a
text that is about torch, unless their causes are the same `anywhere`. A `wrapper` passes on another
error, and comes after that error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from . import catalog, checked, toml
from .catalog import Reproducer
from .checked import key, specifier, string, strings

MESSAGES = Path(__file__).with_name("messages")
TRAINING = "training.toml"  # the first file that is read
GENERAL = "python.toml"
NAMES = Path(__file__).with_name("messages.txt")  # every name that has ever had a page


def _tables(value: object) -> str | None:
    return None if isinstance(value, list) and value else "is not a list of causes"


def _is_true(value: object) -> str | None:
    return None if value is True else "is not true"


@dataclass(frozen=True, kw_only=True)
class Cause:
    cause: str = key(string)
    check: str = key(string)  # how to recognize this cause, and what to change
    see: str = key(string, default="")  # the id of a reproducer with this cause
    source: str = key(string, default="")  # a page that names the cause, if no run has shown it
    wrong: str = key(string, default="")  # lines that raise the message on a CPU; torch is imported
    right: str = key(string, default="")  # the same lines without the cause
    requires: str = key(specifier, default="")  # the releases on which `wrong` raises the message
    supports: str = key(string, default="")  # a regex for texts that speak for this cause
    excludes: str = key(string, default="")  # a regex for texts that speak against this cause
    # neither the message nor what `supports` matches proves this cause; other causes have them too
    likely: bool = key(_is_true, default=False)
    line: int  # the line number in the file

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in checked.keys(Cause)}


def _is_name(value: object) -> str | None:
    if isinstance(value, str) and re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", value):
        return None
    return "is not lowercase words with hyphens between them"


@dataclass(frozen=True, kw_only=True)
class Group:
    """One message and its causes."""

    name: str = key(_is_name)  # the name of its page, messages/NAME.html, to which people link
    title: str = key(string)
    # regexes for messages that no reproducer raises
    texts: tuple[str, ...] = key(strings, default=())
    causes: tuple[Cause, ...] = key(_tables)  # the most likely cause first
    keywords: tuple[str, ...] = key(strings, default=())  # the symptom in the words of users
    wrapper: bool = key(_is_true, default=False)  # it only passes on another error of the text
    # a message of python.toml whose causes are the same in every program
    anywhere: bool = key(_is_true, default=False)
    path: Path
    line: int

    @cached_property
    def patterns(self) -> list[tuple[str, str, int]]:
        """(key, pattern, line) for each regex."""
        return [("texts", text, self.line) for text in self.texts] + [
            (name, pattern, cause.line)
            for cause in self.causes
            for name in ("supports", "excludes")
            if (pattern := getattr(cause, name))
        ]

    @cached_property
    def is_general(self) -> bool:
        """True for an error that is not torch's own."""
        return self.path.name == GENERAL

    @property
    def order(self) -> int:
        """0 for torch's own errors, 1 for general errors, 2 for errors that pass on another."""
        return 2 if self.wrapper else int(self.is_general)

    @property
    def was_raised(self) -> bool:
        """True if a run of this project has raised the message."""
        return not self.texts or any(cause.wrong for cause in self.causes)

    def reproducers(self, by_id: dict[str, Reproducer]) -> list[Reproducer]:
        return [by_id[cause.see] for cause in self.causes if cause.see in by_id]


@cache
def load() -> list[Group]:
    """Every valid group. Raises TOMLDecodeError."""
    return [group for path in files() for group in _read(path)[0]]


def files() -> list[Path]:
    """The files of messages, training.toml first."""
    return sorted(MESSAGES.glob("*.toml"), key=lambda path: (path.name != TRAINING, path.name))


def problems(reproducers: list[Reproducer], listed: set[str]) -> list[str]:
    """One line per problem, such as an unknown key or id, an id in two groups, a message shared by
    reproducers that are not in the same group, or a name that is not `listed` or is no longer used.
    """
    groups: list[Group] = []
    wrong: list[str] = []
    for path in files():
        try:
            read, its_problems = _read(path)
        except toml.TOMLDecodeError as error:
            place = re.search(r"line (\d+)", str(error))
            wrong.append(_at(path, int(place[1]) if place else 1, f"not TOML: {error}"))
            continue
        groups += read
        wrong += its_problems
    if wrong:  # the other checks would only report these groups as missing
        return wrong
    reproducers = [reproducer for reproducer in reproducers if reproducer.is_current]
    known_ids = {reproducer.id for reproducer in reproducers}
    group_of: dict[str, Group] = {}
    names: dict[str, Group] = {}
    titles: dict[str, Group] = {}
    for group in groups:
        if (twin := titles.setdefault(group.title, group)) is not group:
            same = f"{group.name!r} has the title of {twin.name!r}"
            wrong.append(_at(group.path, group.line, same))
        if other := names.get(group.name):
            wrong.append(_at(group.path, group.line, f"{group.name!r} is also {other.title!r}"))
        elif group.name not in listed:
            wrong.append(_at(group.path, group.line, f"{group.name!r} is not in {NAMES.name}"))
        names[group.name] = group
        for cause in group.causes:
            if group.texts and not (cause.see or cause.source or cause.wrong):
                problem = "it has no `see`, `source` or `wrong`, so nothing shows it"
                wrong.append(_at(group.path, cause.line, f"{group.title!r}: {problem}"))
            if bool(cause.wrong) != bool(cause.right) or (cause.wrong and not group.texts):
                problem = "`wrong` and `right` belong together, in a message with `texts`"
                wrong.append(_at(group.path, cause.line, f"{group.title!r}: {problem}"))
            if cause.requires and not cause.wrong:
                problem = "`requires` applies to the lines under `wrong`, but there are none"
                wrong.append(_at(group.path, cause.line, f"{group.title!r}: {problem}"))
            if not cause.see:
                continue
            if cause.see not in known_ids:
                problem = f"no reproducer {cause.see!r}, or a retired one"
                wrong.append(_at(group.path, cause.line, f"{group.title!r}: {problem}"))
            if other := group_of.get(cause.see):
                both = f"{other.title!r} (line {other.line}) and {group.title!r}"
                wrong.append(
                    _at(group.path, cause.line, f"{cause.see!r} is listed under both {both}")
                )
            group_of[cause.see] = group
    wrong += [
        f"{NAMES}:1: {name!r} is no longer a message; people may link to its page"
        for name in sorted(listed - set(names))
    ]
    sharing: dict[str, list[str]] = {}
    for reproducer in reproducers:
        for pattern in reproducer.texts:
            sharing.setdefault(pattern, []).append(reproducer.id)
    for pattern, ids in sharing.items():
        its_groups = {group_of[id].name: group_of[id] for id in ids if id in group_of}
        if len(ids) > 1 and (len(its_groups) > 1 or any(id not in group_of for id in ids)):
            sentence = f"{', '.join(ids)} share {pattern!r} and are not in one group"
            last = next(reversed(its_groups.values()), None)
            where = (last.path, last.line) if last else (MESSAGES / TRAINING, 1)
            wrong.append(_at(*where, sentence))
    return wrong


def _at(path: Path, line: int, problem: str) -> str:
    return f"{path}:{line}: {problem}"


def _read(path: Path) -> tuple[list[Group], list[str]]:
    """Returns the valid groups in a file, and one line per problem in the other groups."""
    source = path.read_text(encoding="utf-8")
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
            elif unfilled := [name for name, text in cause.items() if catalog.FILL_IN in str(text)]:
                wrong.append((line, f"not filled in: {', '.join(unfilled)}"))
            else:
                causes.append(Cause(**cause, line=line))
        if wrong:
            title = raw.get("title", f"message {number}")
            problems += [_at(path, line, f"{title!r}: {sentence}") for line, sentence in wrong]
        else:
            raw |= {"causes": tuple(causes)}
            raw |= {name: tuple(raw.get(name, ())) for name in ("keywords", "texts")}
            groups.append(Group(**raw, path=path, line=place.line))
    return groups, problems


@dataclass
class _Place:
    """The line numbers in a [[message]] table, which TOML parsers do not provide."""

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
