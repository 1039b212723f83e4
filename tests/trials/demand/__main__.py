"""Counts the right answers to public questions about failures.

nox -s demand        or        python -m tests.trials.demand

threads.jsonl has a public thread per line: its address, the class of its failure, and either the
error text that its author `pasted` or the `symptom` in our words. These threads were read while
messages and keywords were written. A reader who had seen neither messages nor keywords wrote
fresh.jsonl, and readers who had not seen fresh.jsonl wrote keywords. classes.toml has the weight of
each class (5: seen everywhere, 1: seen once) and the reproducers that answer it. unrelated.txt has
texts about other subjects.

open.jsonl has threads in the order in which generic queries returned them, whatever their subject:
docs/demand.md has the recipe. A reader who had written no message added the `cause` that the thread
settles on and, after the answer, the causes that are `right`: ids, or sentences of messages/.
silent.jsonl has threads without an error message, drawn in the same way, each with the `question`
in our words. What is `right` there: ids, titles of messages/, or the commands of checklists whose
first three steps show the cause.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from matrix import catalog, toml
from matrix.catalog import Reproducer
from matrix.explain import explain, search
from tests.trials.answers import FIRST, listed, results
from tests.trials.shared import DOCS, address, finish, table, write, write_figure

HERE = Path(__file__).parent
TABLE = DOCS / "demand.md"
PAGE = address(TABLE)
FRESH = "fresh.jsonl"
SETS = {"threads.jsonl": "tuned on", FRESH: "fresh"}

OPEN, SILENT = "open.jsonl", "silent.jsonl"
RIGHT, WRONG, NOTHING = "right", "wrong", "nothing"

# The results of earlier parts of open.jsonl while they were sealed.
EARLIER = (
    ("2026-11-27", 70, "44 %", 35, "40 %", "6 %"),
    ("2026-11-28, first", 112, "59 %", 55, "44 %", "24 %"),
    ("2026-11-28, second", 127, "75 %", 76, "49 %", "28 %"),
    ("2026-11-28, third", 154, "83 %", 93, "63 %", "15 %"),
)

# Targets: percentages for each set, counts for unrelated.txt.
PASTED_RIGHT, PASTED_WRONG, SYMPTOMS_RIGHT, SYMPTOMS_WRONG = 90, 2, 71, 10
EXPLAINED, FOUND = 5, 5


class Class(NamedTuple):
    weight: int
    answers: frozenset[str]  # ids, or sentences of messages/


class Asked(NamedTuple):
    """A thread and its answer."""

    of: str  # its class
    pasted: bool
    outcome: str
    said: str  # the ids of the answer


class Opened(NamedTuple):
    """A thread of the open sample and its answer."""

    half: str  # "tuning": read while messages were written; "sealed": not read
    settled: bool  # the thread names its cause, or its text leaves no doubt
    answered: bool
    place: int  # of the right cause among all causes in the answer, from 1; 0 if it is not there
    is_sure: bool  # the answer has one cause, or says that the text points to its first cause


T = TypeVar("T", "Opened", "Searched")


def measure_open(file: str, reproducers: list[Reproducer]) -> list[Opened]:
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return [ask_open(json.loads(line), reproducers) for line in lines]


def ask_open(thread: dict[str, Any], reproducers: list[Reproducer]) -> Opened:
    answers = explain.find(thread["pasted"], reproducers)
    shown = listed(answers)
    right = set(thread["right"])
    places = [place for place, keys in enumerate(shown, 1) if keys & right]
    return Opened(
        thread["half"],
        thread["settled"] != "none",
        bool(shown),
        places[0] if places else 0,
        bool(answers) and answers[0].is_sure,
    )


class Searched(NamedTuple):
    """A thread without an error message, and the first results of search for it."""

    half: str
    settled: bool
    led: bool  # one of the results is right, or a checklist that shows the cause
    by_checklist: bool  # the first right result is a checklist
    wrong: bool  # a result is said to fit, and none is right


def measure_silent(file: str, reproducers: list[Reproducer]) -> list[Searched]:
    index = search.Index(reproducers)
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    return [ask_silent(json.loads(line), index) for line in lines]


def ask_silent(thread: dict[str, Any], index: search.Index) -> Searched:
    shown, fits = results(thread["question"], index)
    right = [
        found
        for found in shown
        if {found.title, found.checklist and found.address, *found.ids} & set(thread["right"])
    ]
    return Searched(
        thread["half"],
        thread["settled"] != "none",
        bool(right),
        bool(right) and right[0].checklist is not None,
        fits and not right,
    )


def silent_rows(searched: Sequence[Searched]) -> list[tuple[str, int, str]]:
    """(outcome, number, share) for the table."""
    settled = [thread for thread in searched if thread.settled]
    others = [thread for thread in searched if not thread.settled]
    counts = (
        ("led to the cause, of the settled", sum(t.led for t in settled), len(settled)),
        ("by a checklist", sum(thread.by_checklist for thread in settled), len(settled)),
        ("said to fit, but wrong, of the settled", sum(t.wrong for t in settled), len(settled)),
        ("not settled by the thread, said to fit", sum(t.wrong for t in others), len(others)),
    )
    return _shares(counts)


def open_rows(opened: Sequence[Opened]) -> list[tuple[str, int, str]]:
    """(outcome, number, share) for the table."""
    settled = [thread for thread in opened if thread.settled]
    others = [thread for thread in opened if not thread.settled]
    counts = (
        ("answered, of all", sum(thread.answered for thread in opened), len(opened)),
        ("the right cause first, of the settled", sum(t.place == 1 for t in settled), len(settled)),
        (
            f"the right cause among the first {FIRST}, of the settled",
            sum(0 < thread.place <= FIRST for thread in settled),
            len(settled),
        ),
        (
            "the right cause anywhere, of the settled",
            sum(t.place > 0 for t in settled),
            len(settled),
        ),
        (
            "answered without the right cause, of the settled",
            sum(thread.answered and not thread.place for thread in settled),
            len(settled),
        ),
        (
            "points to a wrong cause, of the settled",
            sum(thread.is_sure and thread.place != 1 for thread in settled),
            len(settled),
        ),
        ("not settled by the thread, answered", sum(t.answered for t in others), len(others)),
    )
    return _shares(counts)


def _shares(counts: Iterable[tuple[str, int, int]]) -> list[tuple[str, int, str]]:
    return [
        (what, count, f"{100 * count / total:.0f} % of {total}" if total else "-")
        for what, count, total in counts
    ]


def _halves(
    sealed: list[tuple[str, int, str]], tuning: list[tuple[str, int, str]]
) -> list[tuple[str, str, str]]:
    return [(what, share, other) for (what, _, share), (_, _, other) in zip(sealed, tuning)]


def _half(threads: Iterable[T], half: str) -> list[T]:
    return [thread for thread in threads if thread.half == half]


def classes() -> dict[str, Class]:
    read = toml.loads((HERE / "classes.toml").read_text(encoding="utf-8"))
    return {
        name: Class(entry["weight"], frozenset(entry["answers"])) for name, entry in read.items()
    }


def ask(
    thread: dict[str, str],
    classes_by_name: dict[str, Class],
    reproducers: list[Reproducer],
    index: search.Index,
) -> Asked:
    """Judges the first answer of explain, or the first results of search, for a thread."""
    accepted = classes_by_name[thread["class"]].answers
    if text := thread.get("pasted"):
        answers = [
            {*answer.ids, *(cause.cause for cause in answer.causes)}
            for answer in explain.find(text, reproducers)[:1]
        ]
    else:
        shown, fits = results(thread["symptom"], index)
        answers = [set(result.ids) for result in shown]
    said = ", ".join(sorted(set().union(*answers)))[:500]
    outcome = RIGHT if any(ids & accepted for ids in answers) else WRONG if said else NOTHING
    if outcome == WRONG and not text and not fits:
        outcome = NOTHING  # these are guesses, and the output says so
    return Asked(thread["class"], bool(text), outcome, said)


def measure(
    file: str, classes_by_name: dict[str, Class], reproducers: list[Reproducer]
) -> list[Asked]:
    lines = (HERE / file).read_text(encoding="utf-8").splitlines()
    index = search.Index(reproducers)
    return [ask(json.loads(line), classes_by_name, reproducers, index) for line in lines]


def unrelated(reproducers: list[Reproducer]) -> tuple[list[str], list[str]]:
    """The unrelated texts with an answer from explain, and those with a result from search."""
    lines = (HERE / "unrelated.txt").read_text(encoding="utf-8").splitlines()
    explained = [line for line in lines if explain.find(line, reproducers)]
    index = search.Index(reproducers)
    return explained, [line for line in lines if any(result.fit for result in index.search(line))]


def percent(
    asked: Iterable[Asked], outcome: str, classes_by_name: dict[str, Class] | None = None
) -> float:
    """The percentage with this outcome, weighted if classes are given."""
    weights = [
        (thread, classes_by_name[thread.of].weight if classes_by_name else 1) for thread in asked
    ]
    total = sum(weight for _, weight in weights)
    return (
        100 * sum(w for thread, w in weights if thread.outcome == outcome) / total if total else 0.0
    )


def problems(
    asked_of: dict[str, list[Asked]], explained: Sequence[str], near: Sequence[str]
) -> list[str]:
    missed = []
    for file, asked in asked_of.items():
        pasted = [thread for thread in asked if thread.pasted]
        symptoms = [thread for thread in asked if not thread.pasted]
        for what, share, met, bound in (
            ("pasted texts right", percent(pasted, RIGHT), PASTED_RIGHT, "at least"),
            ("pasted texts wrong", percent(pasted, WRONG), PASTED_WRONG, "at most"),
            ("symptoms right", percent(symptoms, RIGHT), SYMPTOMS_RIGHT, "at least"),
            ("symptoms wrong", percent(symptoms, WRONG), SYMPTOMS_WRONG, "at most"),
        ):
            if share < met if bound == "at least" else share > met:
                missed.append(f"{file}: {what}: {share:.0f} %, {bound} {met} %")
    for what, lines, most in (("explained", explained, EXPLAINED), ("found", near, FOUND)):
        if len(lines) > most:
            missed.append(f"unrelated, {what}: {len(lines)}, at most {most}: {'; '.join(lines)}")
    return missed


def render(
    asked_of: dict[str, list[Asked]],
    classes_by_name: dict[str, Class],
    explained: int,
    near: int,
    strangers: int,
    opened: Sequence[Opened],
    searched: Sequence[Searched],
) -> str:
    lines = [
        "# What people ask, and what is answered",
        "",
        "`nox -s demand` writes this page.",
        "",
        "## Threads as they come",
        "",
        "These threads were taken in the order in which generic queries returned them, so nobody chose their subjects. A",
        "generic query names no message, for example *depth estimation training traceback*, *huggingface trainer",
        "RuntimeError torch*, *gaussian splatting error* or *kaggle notebook torch error*. Each query adds at most five",
        "threads: the first that show the error line of a program that uses torch, except those that an earlier query",
        "returned. `explain` receives the text that the author pasted. A thread is *settled* if it names its cause,",
        "or if its text leaves no doubt about the cause. We record whether a thread is settled before anyone sees the",
        "answer. A reader who had written none of the answers judged them.",
        "",
        "`tests/trials/demand/open.jsonl` has the query of each thread. The authors of the messages read one part of the",
        "threads, and marked which of their new causes are right. The other part is *sealed*: none of the authors read it,",
        "and a reader who had written none of the messages judged the answers after the last message was written. In",
        "the newest sealed part, most queries also name a class of errors, so many texts are a single line. When a new",
        "part is drawn, the authors may read the part that was sealed before. These were the results of each part while",
        "it was sealed:",
        "",
        table(
            (
                "judged on",
                "threads",
                "answered",
                "settled",
                "right in the first 3",
                "answered without the right cause",
            ),
            EARLIER,
            (
                "threads",
                "answered",
                "settled",
                "right in the first 3",
                "answered without the right cause",
            ),
        ),
        "",
        "A list of causes states whether the text points to its first cause. An answer *points to a wrong cause* if",
        "its only cause, or the first cause that the text points to, is wrong.",
        "",
        table(
            ("outcome", "sealed", "tuned on"),
            _halves(open_rows(_half(opened, "sealed")), open_rows(_half(opened, "tuning"))),
            ("sealed", "tuned on"),
        ),
        "",
        "## Threads without an error message",
        "",
        "These threads were drawn on 2026-11-28 with generic queries in the words of people who know only a symptom, such",
        "as *loss does not decrease pytorch* or *training worse after upgrading torch*. Each query adds at most three",
        "threads. `search` receives each thread's question in our words. We worded all questions before running",
        f"`search`. The first {FIRST} results count, including guesses. A thread counts as *led to the cause* if a",
        "result is the right reproducer, a list that contains the cause, or a checklist whose first three steps would",
        "show the cause. A reader who had written none of the answers judged the results. For the sealed half, the",
        "reader did so after the last change to `search`. Phrases and checklists were changed only for the other",
        "half. A checklist names no cause, so `search` never says that a checklist fits.",
        "",
        "Three earlier parts were each sealed until the next part was drawn. The results of these parts were:",
        "",
        table(
            ("settled", "led to the cause", "said to fit, but wrong"),
            [(26, "38 %", "19 %"), (36, "36 %", "0 %"), (30, "47 %", "3 %")],
            ("settled", "led to the cause", "said to fit, but wrong"),
        ),
        "",
        table(
            ("outcome", "sealed", "tuned on"),
            _halves(silent_rows(_half(searched, "sealed")), silent_rows(_half(searched, "tuning"))),
            ("sealed", "tuned on"),
        ),
        "",
        "## Threads of known classes",
        "",
        "These threads are about failures that this corpus contains. If the author of a thread pasted an error",
        "message, `explain` receives the message. Only the first answer counts, and a list of causes counts as right",
        "if it contains the real cause. If a thread describes only a symptom, `search` receives the symptom in our",
        f"own words, and the first {FIRST} results count. If none of the results fits, `search` calls the results",
        "guesses, and wrong guesses count as no answer. We read the threads of the first two rows while writing the",
        "messages and keywords. A reader who had seen neither the messages nor the keywords collected and worded the",
        "fresh threads. Most keywords were written by readers who had not seen the fresh threads. Before these",
        "keywords were added, `search` answered 49 % of the fresh symptoms; a few synonyms have been added since. In",
        "the *weighted* share, the weight of a thread is the frequency of its class, from 5 (everywhere) to 1.",
        "",
    ]
    rows = []
    for file, name in SETS.items():
        asked = asked_of.get(file, [])
        for what, chosen in (
            ("error texts", [thread for thread in asked if thread.pasted]),
            ("symptoms", [thread for thread in asked if not thread.pasted]),
        ):
            if chosen:
                shares = [percent(chosen, outcome) for outcome in (RIGHT, WRONG, NOTHING)]
                rows.append(
                    (f"{what}, {name}", len(chosen))
                    + tuple(f"{share:.0f} %" for share in shares)
                    + (f"{percent(chosen, RIGHT, classes_by_name):.0f} %",)
                )
    header = ("threads", "number", "right", "wrong", "no answer", "right, weighted")
    lines += [table(header, rows, header[1:]), ""]
    lines += [
        f"Of {strangers} questions and errors about other subjects (other libraries, installation, drivers,",
        f"shapes in NumPy), `explain` answers {explained} and `search` returns results for {near}.",
        "",
        "## By class",
        "",
    ]
    rows = []
    for name, class_ in sorted(
        classes_by_name.items(), key=lambda item: (-item[1].weight, item[0])
    ):
        of_class = [asked for each in asked_of.values() for asked in each if asked.of == name]
        if of_class:
            right = sum(asked.outcome == RIGHT for asked in of_class)
            answers = ", ".join(f"`{id}`" for id in sorted(class_.answers))
            rows.append((name.replace("_", " "), class_.weight, len(of_class), right, answers))
    numbers = ("weight", "threads", "right")
    lines.append(table(("class", *numbers, "answered by one of"), rows, numbers))
    return "\n".join(lines) + "\n"


def figure(
    asked_of: dict[str, list[Asked]], explained: int, strangers: int, opened: Sequence[Opened]
) -> str:
    """The summary for README.md, about the threads that were not used for tuning."""
    asked = asked_of[FRESH]
    pasted = [thread for thread in asked if thread.pasted]
    symptoms = [thread for thread in asked if not thread.pasted]
    opened = [thread for thread in opened if thread.half == "sealed"]
    settled = [thread for thread in opened if thread.settled]
    answered = sum(thread.answered for thread in opened)
    first = sum(0 < thread.place <= FIRST for thread in settled)
    return (
        f"- `explain` answers {answered} of {len(opened)} public threads with an error text. Nobody chose the subjects of these\n"
        f"  threads. For {first} of the {len(settled)} threads whose cause is known, the first {FIRST} causes include the right cause.\n"
        f"- Of {len(asked)} public threads that nobody had read while the messages were written, {len(pasted)} contain "
        f"an error text\n  and {len(symptoms)} only a symptom. `explain` names the right cause for "
        f"{percent(pasted, RIGHT):.0f} % of the error texts, and `search` for\n  {percent(symptoms, RIGHT):.0f} % of the "
        f"symptoms. Of {strangers} texts about other subjects, `explain` answers {explained}\n"
        f"  ([docs/demand.md]({PAGE}))."
    )


@click.command(help=__doc__)
@click.option("--verbose", is_flag=True, help="Print the threads without a right answer.")
def main(verbose: bool) -> None:
    reproducers, classes_by_name = (
        [reproducer for reproducer in catalog.load() if reproducer.is_current],
        classes(),
    )
    asked_of = {
        file: measure(file, classes_by_name, reproducers) for file in SETS if (HERE / file).exists()
    }
    explained, near = unrelated(reproducers)
    if verbose:
        for file, asked in asked_of.items():
            lines = (HERE / file).read_text(encoding="utf-8").splitlines()
            for line, answer in zip(lines, asked):
                if answer.outcome != RIGHT:
                    thread = json.loads(line)
                    text = thread.get("pasted") or thread["symptom"]
                    click.echo(f"{answer.outcome} {answer.of}: {text}\n    said: {answer.said}")
    strangers = len((HERE / "unrelated.txt").read_text(encoding="utf-8").splitlines())
    opened = measure_open(OPEN, reproducers)
    searched = measure_silent(SILENT, reproducers)
    page = render(asked_of, classes_by_name, len(explained), len(near), strangers, opened, searched)
    write(TABLE, page)
    write_figure("demand", figure(asked_of, len(explained), strangers, opened))
    sys.exit(finish(problems(asked_of, explained, near)))


if __name__ == "__main__":
    main()
