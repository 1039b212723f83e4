"""How many of the failures that people ask about in public are answered.

nox -s demand        or        python -m tests.trials.demand

threads.jsonl holds a public thread per line: its address, the class of its failure, and what its
author has to go by: the error text that was `pasted`, or else the `symptom`, in our words. It was
looked at while messages and keywords were written. fresh.jsonl was written by a reader who had seen
neither, and keywords by readers who had not seen it. classes.toml has the weight of each class (5: met everywhere, 1: met once)
and the reproducers that answer it. unrelated.txt holds what nothing here is about.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import click

from matrix import catalog, toml
from matrix.catalog import Reproducer
from matrix.explain import explain, search
from tests.trials.shared import DOCS, address, finish, table, write, write_figure

HERE = Path(__file__).parent
TABLE = DOCS / "demand.md"
PAGE = address(TABLE)
FRESH = "fresh.jsonl"
SETS = {"threads.jsonl": "tuned on", FRESH: "fresh"}
FIRST = 3  # results of a search that count

RIGHT, WRONG, NOTHING = "right", "wrong", "nothing"

# Of each set, in percent; of unrelated.txt, as numbers.
PASTED_RIGHT, PASTED_WRONG, SYMPTOMS_RIGHT = 90, 2, 75
EXPLAINED, FOUND = 0, 5


class Class(NamedTuple):
    weight: int
    answers: frozenset[str]  # ids


class Asked(NamedTuple):
    """One thread, and what was answered."""

    of: str  # its class
    pasted: bool
    outcome: str
    said: str  # what the wrong answer was


def classes() -> dict[str, Class]:
    read = toml.loads((HERE / "classes.toml").read_text(encoding="utf-8"))
    return {name: Class(one["weight"], frozenset(one["answers"])) for name, one in read.items()}


def ask(
    thread: dict[str, str],
    known: dict[str, Class],
    reproducers: list[Reproducer],
    index: search.Index,
) -> Asked:
    """What the first answer of explain is, or whether the first results of search hold one."""
    accepted = known[thread["class"]].answers
    if text := thread.get("pasted"):
        answers = [set(answer.ids) for answer in explain.find(text, reproducers)[:1]]
    else:
        answers = [set(found.ids) for found in index.search(thread["symptom"])[:FIRST]]
    said = ", ".join(sorted(set().union(*answers)))
    outcome = RIGHT if any(one & accepted for one in answers) else WRONG if said else NOTHING
    return Asked(thread["class"], bool(text), outcome, said)


def measure(file: str, known: dict[str, Class], reproducers: list[Reproducer]) -> list[Asked]:
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    index = search.Index(reproducers)
    return [ask(json.loads(line), known, reproducers, index) for line in lines]


def unrelated(reproducers: list[Reproducer]) -> tuple[list[str], list[str]]:
    """What explain answers, and what search finds, though it should not."""
    lines = (HERE / "unrelated.txt").read_text(encoding="utf-8").splitlines()
    explained = [line for line in lines if explain.find(line, reproducers)]
    index = search.Index(reproducers)
    return explained, [line for line in lines if index.search(line)]


def percent(asked: Iterable[Asked], outcome: str, known: dict[str, Class] | None = None) -> float:
    """The share with this outcome; with classes, by their weight."""
    weights = [(one, known[one.of].weight if known else 1) for one in asked]
    total = sum(weight for _, weight in weights)
    return 100 * sum(w for one, w in weights if one.outcome == outcome) / total if total else 0.0


def problems(
    found: dict[str, list[Asked]], explained: Sequence[str], near: Sequence[str]
) -> list[str]:
    missed = []
    for file, asked in found.items():
        pasted = [one for one in asked if one.pasted]
        symptoms = [one for one in asked if not one.pasted]
        for what, share, met, bound in (
            ("pasted texts right", percent(pasted, RIGHT), PASTED_RIGHT, "at least"),
            ("pasted texts wrong", percent(pasted, WRONG), PASTED_WRONG, "at most"),
            ("symptoms right", percent(symptoms, RIGHT), SYMPTOMS_RIGHT, "at least"),
        ):
            if share < met if bound == "at least" else share > met:
                missed.append(f"{file}: {what}: {share:.0f} %, {bound} {met} %")
    for what, lines, most in (("explained", explained, EXPLAINED), ("found", near, FOUND)):
        if len(lines) > most:
            missed.append(f"unrelated, {what}: {len(lines)}, at most {most}: {'; '.join(lines)}")
    return missed


def render(
    found: dict[str, list[Asked]],
    known: dict[str, Class],
    explained: int,
    near: int,
    strangers: int,
) -> str:
    lines = [
        "# What people ask, and what is answered",
        "",
        "Written by `nox -s demand`. Public threads about failures of PyTorch, sampled by what people",
        "ask. A thread whose author pasted an error text is put to `explain`: its first answer counts,",
        "and a list of causes is right when it holds the real one. A thread that has only a symptom is",
        f"put to `search` in a sentence of our own: the first {FIRST} results count. The threads of the first",
        "rows were looked at while messages and keywords were written. The fresh ones were collected and",
        "worded by a reader who had not seen those, and most keywords by readers who had not seen these;",
        "of their symptoms, 49 % were answered before that, and a few synonyms were added since.",
        "*Weighted* counts a thread by how often its class is met, from 5 (everywhere) to 1.",
        "",
    ]
    rows = []
    for file, name in SETS.items():
        asked = found.get(file, [])
        for what, those in (
            ("error texts", [one for one in asked if one.pasted]),
            ("symptoms", [one for one in asked if not one.pasted]),
        ):
            if those:
                shares = [percent(those, outcome) for outcome in (RIGHT, WRONG, NOTHING)]
                rows.append(
                    (f"{what}, {name}", len(those))
                    + tuple(f"{share:.0f} %" for share in shares)
                    + (f"{percent(those, RIGHT, known):.0f} %",)
                )
    header = ("threads", "number", "right", "wrong", "no answer", "right, weighted")
    lines += [table(header, rows, header[1:]), ""]
    lines += [
        f"Of {strangers} questions and errors that concern something else (other libraries, installation,",
        f"drivers, shapes in NumPy), `explain` answers {explained} and `search` finds something for {near}.",
        "",
        "## By class",
        "",
    ]
    rows = []
    for name, one in sorted(known.items(), key=lambda item: (-item[1].weight, item[0])):
        of_class = [asked for each in found.values() for asked in each if asked.of == name]
        if of_class:
            right = sum(asked.outcome == RIGHT for asked in of_class)
            answers = ", ".join(f"`{id}`" for id in sorted(one.answers))
            rows.append((name.replace("_", " "), one.weight, len(of_class), right, answers))
    numbers = ("weight", "threads", "right")
    lines.append(table(("class", *numbers, "answered by one of"), rows, numbers))
    return "\n".join(lines) + "\n"


def figure(found: dict[str, list[Asked]], explained: int, strangers: int) -> str:
    """The sentence of README.md: of the threads that nobody tuned on."""
    asked = found[FRESH]
    pasted = [one for one in asked if one.pasted]
    symptoms = [one for one in asked if not one.pasted]
    return (
        f"- Of {len(asked)} public threads that were not looked at while messages were written, `explain` names the cause of "
        f"{percent(pasted, RIGHT):.0f} % of\n  the {len(pasted)} with an error text, `search` that of "
        f"{percent(symptoms, RIGHT):.0f} % of the {len(symptoms)} with a symptom alone; of {strangers} texts "
        f"about something else,\n  `explain` answers {explained} ([docs/demand.md]({PAGE}))."
    )


@click.command(help=__doc__)
@click.option("--verbose", is_flag=True, help="Print what was not answered, or wrongly.")
def main(verbose: bool) -> None:
    reproducers, known = [one for one in catalog.load() if one.is_current], classes()
    found = {file: measure(file, known, reproducers) for file in SETS if (HERE / file).exists()}
    explained, near = unrelated(reproducers)
    if verbose:
        for file, asked in found.items():
            lines = (HERE / file).read_text(encoding="utf-8").splitlines()
            for line, one in zip(lines, asked):
                if one.outcome != RIGHT:
                    thread = json.loads(line)
                    text = thread.get("pasted") or thread["symptom"]
                    click.echo(f"{one.outcome} {one.of}: {text}\n    said: {one.said}")
    strangers = len((HERE / "unrelated.txt").read_text(encoding="utf-8").splitlines())
    write(TABLE, render(found, known, len(explained), len(near), strangers))
    write_figure("demand", figure(found, len(explained), strangers))
    sys.exit(finish(problems(found, explained, near)))


if __name__ == "__main__":
    main()
