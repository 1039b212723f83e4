"""Counts the cases of other people's lists of failures that this corpus covers and finds.

nox -s outside        or        python -m tests.trials.outside

cases.jsonl has a case per line: its `list` and `link`; its `case`, the name or number there; the
`cause` and the `words` of someone who asks about it, both in our words; `loud`, true if an error
message comes with it, in which case `words` is the message; `cpu`, true if a CPU can show it; the
`ids` that cover it, which are reproducers or sentences of messages/; and its `half`: the phrases of
`search` were tuned on one half and not on the other. lists.toml has the address of each list.

A case is covered only if the cause and the failure are the same, so that the answer would solve
the case. This was decided from the docstrings, before `search` had seen the words.
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
from tests.trials.answers import FIRST, listed, results
from tests.trials.shared import DOCS, address, finish, table, write, write_figure

HERE = Path(__file__).parent
CASES, LISTS = HERE / "cases.jsonl", HERE / "lists.toml"
TABLE = DOCS / "outside.md"
PAGE = address(TABLE)
KEYS = {"list", "link", "case", "cause", "words", "loud", "cpu", "ids", "half"}
TUNED, TEST = "tuned", "test"
LEFT_OUT = 12  # cases of the lists that are not failures of a program with torch

FOUND, MISSED = "found", "not found"  # of a case that is covered
ANSWERED, GUESS, NOTHING = "another answer", "a guess", "no answer"  # of one that is not

# Targets, in percent: covered cases that a CPU can show, covered cases that are found.
COVERED, FOUND_TUNED, FOUND_TEST = 70, 85, 70


class Case(NamedTuple):
    """A case of a list."""

    list: str
    link: str
    case: str
    cause: str
    words: str
    loud: bool
    cpu: bool
    ids: tuple[str, ...]  # reproducers, or sentences of messages/; () if nothing covers the case
    half: str


class Asked(NamedTuple):
    """A case, and what was answered."""

    case: Case
    outcome: str
    rule: str  # the level of the rule that `scan` has for one of the ids, or ""


def load(path: Path = CASES) -> list[Case]:
    """The cases. Raises ValueError for a line with other keys."""
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        read = json.loads(line)
        if set(read) != KEYS:
            raise ValueError(f"{path}:{number}: expected {', '.join(sorted(KEYS))}")
        cases.append(Case(**{**read, "ids": tuple(read["ids"])}))
    return cases


def lists() -> dict[str, str]:
    """Maps the name of each list to its address."""
    return dict(toml.loads(LISTS.read_text(encoding="utf-8")))


def ask(case: Case, reproducers: list[Reproducer], index: search.Index) -> Asked:
    """Asks `explain` for a message, and `search` for a symptom."""
    if case.loud:
        shown = listed(explain.find(case.words, reproducers))
        fits = bool(shown)
    else:
        found_first, fits = results(case.words, index)
        shown = [_keys(result) for result in found_first]
    if case.ids:
        outcome = FOUND if any(keys & set(case.ids) for keys in shown[:FIRST]) else MISSED
    else:
        outcome = ANSWERED if fits else GUESS if shown else NOTHING
    levels = [each.rule for each in reproducers if each.id in case.ids and each.rule]
    return Asked(case, outcome, min(levels, key=list(catalog.LEVELS).index, default=""))


def _keys(found: search.Found) -> set[str]:
    """The ids and the sentences that a result of `search` shows."""
    return {*found.ids, *(cause.cause for cause in found.causes)}


def measure(cases: Iterable[Case], reproducers: list[Reproducer]) -> list[Asked]:
    index = search.Index(reproducers)
    return [ask(case, reproducers, index) for case in cases]


def share(part: Sequence[object], whole: Sequence[object]) -> str:
    return f"{len(part)} of {len(whole)}" if whole else "-"


def _percent(part: Sequence[object], whole: Sequence[object]) -> float:
    return 100 * len(part) / len(whole) if whole else 100.0


def covered(asked: Iterable[Asked]) -> list[Asked]:
    return [each for each in asked if each.case.ids]


def found(asked: Iterable[Asked]) -> list[Asked]:
    return [each for each in asked if each.outcome == FOUND]


def on_cpu(asked: Iterable[Asked]) -> list[Asked]:
    return [each for each in asked if each.case.cpu]


def of_half(asked: Iterable[Asked], half: str) -> list[Asked]:
    return [each for each in asked if each.case.half == half]


def problems(asked: Sequence[Asked]) -> list[str]:
    """One line per target that is missed."""
    counts = [
        ("cases that a CPU can show, covered", covered(on_cpu(asked)), on_cpu(asked), COVERED)
    ]
    for half, least in ((TUNED, FOUND_TUNED), (TEST, FOUND_TEST)):
        part = of_half(asked, half)
        counts.append((f"covered cases found, {half}", found(part), covered(part), least))
    return [
        f"{what}: {_percent(part, whole):.0f} %, at least {least} %"
        for what, part, whole, least in counts
        if _percent(part, whole) < least
    ]


def _by_list(asked: Sequence[Asked], addresses: dict[str, str]) -> str:
    header = ("list", "cases", "on a CPU", "covered", "covered, on a CPU", "found", "scan rule")
    rows = []
    for name in [*addresses, None]:
        part = [each for each in asked if name in (each.case.list, None)]
        rows.append(
            (
                f"[{name}]({addresses[name]})" if name else "all",
                len(part),
                len(on_cpu(part)),
                len(covered(part)),
                len(covered(on_cpu(part))),
                len(found(part)),
                sum(bool(each.rule) for each in part),
            )
        )
    return table(header, rows, header[1:])


def _by_half(asked: Sequence[Asked]) -> str:
    rows = []
    for what, loud in (("all", None), ("with a message", True), ("without a message", False)):
        cells: list[str] = []
        for half in (TEST, TUNED):
            part = [each for each in of_half(asked, half) if loud in (each.case.loud, None)]
            rest = [each for each in part if not each.case.ids]
            silent = [each for each in rest if each.outcome != ANSWERED]
            cells += [share(found(part), covered(part)), share(silent, rest)]
        rows.append((what, *cells))
    header = ("cases", *(f"{what}, {half}" for half in ("test", "tuned") for what in _HALVES))
    return table(header, rows, header[1:])


_HALVES = ("covered and found", "not covered and not answered")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _link(case: Case) -> str:
    return f"[{_cell(case.case)}]({case.link})"


def _losses(asked: Sequence[Asked]) -> Iterable[str]:
    rows = [
        (_cell(each.case.list), _link(each.case), _cell(each.case.cause), yes(each.case.cpu))
        + (each.outcome,)
        for each in asked
        if not each.case.ids
    ]
    header = ("list", "case", "cause", "on a CPU", "asked")
    yield from ("## Not covered", "", table(header, rows), "", "## Covered and not found", "")
    rows = [
        (_cell(each.case.list), _link(each.case), _cell(each.case.words))
        + (", ".join(f"`{id}`" if "/" in id.split(" ")[0] else id for id in each.case.ids),)
        + (each.case.half,)
        for each in asked
        if each.outcome == MISSED
    ]
    yield table(("list", "case", "asked", "covered by", "half"), rows)


def yes(value: bool) -> str:
    return "yes" if value else "no"


def render(asked: Sequence[Asked], addresses: dict[str, str]) -> str:
    return "\n".join(
        [
            "# Lists of failures that others have published",
            "",
            "`nox -s outside` writes this page. Other people have published checklists, bug galleries, benchmarks, rules and",
            f"collections of questions. We took {len(asked) + LEFT_OUT} cases from {len(addresses)} of these lists. Of these cases, {len(asked)} can occur in a",
            "program that trains with PyTorch. For each case, a reader decided from the docstrings whether a reproducer, or",
            "an entry for a message, describes the same failure with the same cause, so that its fix would solve the case. A",
            "failure in the same area is not enough. If a list does not state the cause, and the source of the list was",
            "available, the reader looked up the cause in the source.",
            "",
            "`tests/trials/outside/cases.jsonl` has the cause of each case in our words, the ids that cover the case, and the",
            "question of someone who has the failure. `explain` gets the question if it is an error message, and `search`",
            f"gets the other questions. A case is *found* if the first {FIRST} results contain one of its ids. For a case that is",
            "not covered, the right outcome is no result, or a result that is marked as a guess. All questions were written",
            "before the first search. The cases were divided at random into two halves: phrases were added for the",
            "*tuned* half, and nobody looked at the misses of the *test* half before the work ended.",
            "",
            _by_list(asked, addresses),
            "",
            _by_half(asked),
            "",
            *_losses(asked),
            "",
        ]
    )


def figure(asked: Sequence[Asked], addresses: dict[str, str]) -> str:
    """The summary for README.md."""
    cpu, test = on_cpu(asked), of_half(asked, TEST)
    return (
        f"- In total, {len(addresses)} published lists name {len(cpu)} failures that a run on the CPU can show. For "
        f"{len(covered(cpu))} of these, a\n  reproducer or an entry for an error message names the cause: these failures are "
        f"*covered*. Half of the listed\n  failures were not used to improve the search. In this half, `explain` and `search` "
        f"find {share(found(test), covered(test))}\n  covered failures among the first {FIRST} results ([docs/outside.md]({PAGE}))."
    )


@click.command(help=__doc__)
@click.option("--verbose", is_flag=True, help="Print the misses of the tuned half.")
def main(verbose: bool) -> None:
    reproducers = [reproducer for reproducer in catalog.load() if reproducer.is_current]
    asked, addresses = measure(load(), reproducers), lists()
    if verbose:
        for each in of_half(asked, TUNED):
            if each.outcome in (MISSED, ANSWERED):
                click.echo(f"{each.outcome}: {each.case.words}\n    {', '.join(each.case.ids)}")
    write(TABLE, render(asked, addresses))
    write_figure("outside", figure(asked, addresses))
    sys.exit(finish(problems(asked)))


if __name__ == "__main__":
    main()
