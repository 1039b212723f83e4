"""How many of the places that scan finds in public code are true.

nox -s scan-labels        or        python -m tests.trials.scan_labels --mirrors DIR

labels.jsonl holds a place per line: repository, commit, path, line, id, and what a reader said of it:
true (the code as written can show the failure, under the rule's condition), harmless (something
around it prevents that) or false (misread). "reached": false says of a true place that nothing in its
repository runs it: dead code, or another fault stops the program first. The places of the set
"tuning" were read while the rules were written; those of "fresh" lie in repositories that nobody
looked at before the rules were done.

The files are fetched from GitHub at their commits (some 30 MB, kept in --cache), or read from --mirrors: a
folder of bare clones named owner+name. They are read as text; nothing of them is run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

import click

from matrix import catalog
from matrix.catalog import Reproducer
from matrix.scan import scanning
from matrix.scan.scanning import Finding
from tests.trials.shared import DOCS, NotMeasured, address, finish, table, write, write_figure

HERE = Path(__file__).parent
LABELS = HERE / "labels.jsonl"
TABLE, FOUND = DOCS / "scan.md", DOCS / "found.md"
CACHE = Path.home() / ".cache" / "torch-repros" / "labelled"

TRUE, HARMLESS, FALSE = KINDS = ("true", "harmless", "false")
SHOWN = 3  # places of one repository and rule on the page: the others are mostly copies
PER_REPOSITORY = 3  # fresh places of a rule: more are copies
NEAR = 3  # lines: a reader may name the next line of a statement
# Errors and warnings of the fresh set when they were first read; what they taught is in since.
FIRST_READ, FIRST_TRUE, FIRST_DEAD = 132, 119, 22
PRECISE = {"tuning": 90, "fresh": 85}  # percent true of what is no note


class Label(NamedTuple):
    repository: str
    commit: str
    path: str
    line: int
    id: str
    label: str
    why: str
    set: str
    reached: bool = True

    @property
    def file(self) -> tuple[str, str, str]:
        return self.repository, self.commit, self.path

    @property
    def address(self) -> str:
        return f"https://github.com/{self.repository}/blob/{self.commit}/{self.path}#L{self.line}"


class Counted(NamedTuple):
    """Of one rule, or of several, in one set."""

    found: Counter[str]  # label -> how many were found
    dead: int  # of the true ones: nothing in the repository runs them
    missed: int  # labelled true, reached, and not found
    unread: int  # found in a labelled file, without a label

    @property
    def precision(self) -> float | None:
        total = self.found.total()
        return 100 * self.found[TRUE] / total if total else None

    @property
    def precision_where_run(self) -> float | None:
        """The same, where what nothing runs counts as harmless."""
        total = self.found.total()
        return 100 * (self.found[TRUE] - self.dead) / total if total else None

    @property
    def recall(self) -> float | None:
        total = self.found[TRUE] + self.missed
        return 100 * self.found[TRUE] / total if total else None


def labels() -> list[Label]:
    lines = LABELS.read_text(encoding="utf-8").splitlines()
    return [Label(**json.loads(line)) for line in lines]


def source(file: tuple[str, str, str], mirrors: Path | None, cache: Path) -> str:
    """The text of a file at its commit. Raises NotMeasured."""
    repository, commit, path = file
    kept = cache / repository.replace("/", "+") / commit / path
    if not kept.is_file():
        data = _from_mirror(mirrors, repository, commit, path) if mirrors else _fetched(file, cache)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(data)
    return kept.read_text(encoding="utf-8", errors="replace")


def _from_mirror(mirrors: Path, repository: str, commit: str, path: str) -> bytes:
    folder = mirrors / repository.replace("/", "+")
    places = (folder / "repo" / ".git", folder / "repo", folder)
    git = next((place for place in places if (place / "objects").is_dir()), None)
    if git is None:
        raise NotMeasured(f"no clone of {repository} in {mirrors}")
    return _git("--git-dir", str(git), "show", f"{commit}:{path}")


def _fetched(file: tuple[str, str, str], cache: Path) -> bytes:
    """Of GitHub, commit and file alone."""
    repository, commit, path = file
    git = cache / f"{repository.replace('/', '+')}.git"
    if not git.is_dir():
        _git("init", "--quiet", "--bare", str(git))
        address = f"https://github.com/{repository}"
        _git("--git-dir", str(git), "config", "remote.origin.url", address)
        _git("--git-dir", str(git), "config", "remote.origin.promisor", "true")
        _git("--git-dir", str(git), "config", "remote.origin.partialclonefilter", "blob:none")
    held = ("--git-dir", str(git), "fetch", "--quiet", "--depth=1", "--filter=blob:none")
    _git(*held, "origin", commit)
    return _git("--git-dir", str(git), "show", f"{commit}:{path}")


def _git(*arguments: str) -> bytes:
    done = subprocess.run(["git", *arguments], capture_output=True)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()
        raise NotMeasured(f"git {' '.join(arguments[-2:])}: {why}")
    return done.stdout


def scanned(
    places: Iterable[Label], rules: list[scanning.Rule], mirrors: Path | None, cache: Path
) -> dict[tuple[str, str, str], list[Finding]]:
    """File -> what is found in it now."""
    files = list(dict.fromkeys(label.file for label in places))
    found = {}
    with click.progressbar(files, label="reading files", file=sys.stderr) as bar:
        for file in bar:
            found[file] = scanning.scan_text(source(file, mirrors, cache), rules, Path(file[2]))
    return found


def paired(
    places: Iterable[Label], found: dict[tuple[str, str, str], list[Finding]]
) -> dict[Label, Finding]:
    """What is found at the place of a label, the nearest first; nothing is found at two places."""
    pairs = sorted(
        (abs(one.line - label.line), label, one)
        for label in places
        for one in found[label.file]
        if one.id == label.id and abs(one.line - label.line) <= NEAR
    )
    at: dict[Label, Finding] = {}
    taken = set()
    for _, label, one in pairs:
        if label not in at and (label.file, one) not in taken:
            at[label] = one
            taken.add((label.file, one))
    return at


def count(
    places: list[Label], found: dict[tuple[str, str, str], list[Finding]], ids: set[str]
) -> Counted:
    """Of these rules."""
    kinds: Counter[str] = Counter()
    dead, missed = 0, 0
    at = paired(places, found)
    for label in places:
        if label.id in ids:
            if label in at:
                kinds[label.label] += 1
                dead += not label.reached
            elif label.label == TRUE and label.reached:
                missed += 1
    files = {label.file for label in places}
    every = sum(one.id in ids for file in files for one in found[file])
    return Counted(kinds, dead, missed, every - kinds.total())


def problems(
    sets: dict[str, list[Label]],
    found: dict[tuple[str, str, str], list[Finding]],
    reproducers: Sequence[Reproducer],
) -> list[str]:
    """Rules and sets that are less precise than they may be."""
    wrong = []
    serious = {one.id for one in reproducers if one.rule != "note"}
    for name, places in sets.items():
        all_of_them = count(places, found, serious).precision
        if all_of_them is not None and all_of_them < PRECISE[name]:
            wrong.append(f"{name}: {all_of_them:.0f} % true, at least {PRECISE[name]} %")
    every = [label for places in sets.values() for label in places]
    for one in reproducers:
        precision = count(every, found, {one.id}).precision
        least = 70 if one.rule == "note" else 85
        if precision is not None and precision < least:
            wrong.append(f"{one.id} ({one.rule}): {precision:.0f} % true, at least {least} %")
    return wrong


def render(
    sets: dict[str, list[Label]],
    found: dict[tuple[str, str, str], list[Finding]],
    reproducers: Sequence[Reproducer],
) -> str:
    lines = [
        "# What scan finds in public code, and how much of it is true",
        "",
        "Written by `nox -s scan-labels`. Each place was read by one person: *true* means that the code",
        "as written can show the failure under the rule's condition; *harmless*, that something around",
        "it prevents that; *false*, that the rule misread it. *Dead* counts the true places that nothing",
        "in their repository runs: no call, or another fault stops the program first. Precision is the",
        "share of true ones among the places that are found and were read; *where run* is the same",
        "share, with the dead ones counted as harmless. Recall is the share of the true ones that are",
        "found (of those that anybody has seen: nobody knows all of them). *Tuning*: repositories that",
        "were looked at while the rules were written. *Fresh*: repositories that were fetched after the",
        f"rules were done; at most {PER_REPOSITORY} places of a rule and a repository were read. When they were",
        f"first read, {FIRST_TRUE} of their {FIRST_READ} errors and warnings were true "
        f"({_share(FIRST_TRUE):.0f} %; where run {_share(FIRST_TRUE - FIRST_DEAD):.0f} %); the rules",
        "have learnt from the others since. Of two earlier fresh sets, which belong to tuning now, 56 % and",
        "75 % were, with the dead ones counted as harmless.",
        "",
    ]
    serious = {one.id for one in reproducers if one.rule != "note"}
    notes = {one.id for one in reproducers} - serious
    rows = []
    for name, places in sets.items():
        repositories = len({label.repository for label in places})
        for what, ids in (("errors and warnings", serious), ("notes", notes)):
            rows.append((f"{what}, {name}", repositories, *_numbers(count(places, found, ids))))
    numbers = (
        *("true", "dead", "harmless", "false", "precision", "where run"),
        *("true, not found", "recall", "not read"),
    )
    lines += [table(("places", "repositories", *numbers), rows, ("repositories", *numbers)), ""]
    lines += ["## By rule", "", "Both sets together.", ""]
    every = [label for places in sets.values() for label in places]
    rows = [
        (f"`{one.id}`", one.rule, *_numbers(count(every, found, {one.id}))) for one in reproducers
    ]
    return "\n".join([*lines, table(("rule", "level", *numbers), rows, numbers)]) + "\n"


def _numbers(counted: Counted) -> tuple[object, ...]:
    shares = (counted.precision, counted.precision_where_run, counted.recall)
    precision, where_run, recall = ("" if one is None else f"{one:.0f} %" for one in shares)
    true, harmless, false = (counted.found[kind] for kind in KINDS)
    kinds = (true, counted.dead, harmless, false)
    return (*kinds, precision, where_run, counted.missed, recall, counted.unread)


def _share(true: int) -> float:
    return 100 * true / FIRST_READ


def figure(places: list[Label]) -> str:
    """The sentence of README.md: of the places that nobody tuned on, as they were first read."""
    repositories = len({label.repository for label in places})
    return (
        f"- Of {FIRST_READ} errors and warnings of `scan` in {repositories} public repositories that its rules "
        f"were not written for,\n  {_share(FIRST_TRUE):.0f} % were true "
        f"({_share(FIRST_TRUE - FIRST_DEAD):.0f} % in code that something runs) ([docs/scan.md]({address(TABLE)}))."
    )


def found_in_code(
    places: Iterable[Label],
    found: dict[tuple[str, str, str], list[Finding]],
    reproducers: Sequence[Reproducer],
) -> str:
    """The page of the true places that are no note."""
    lines = [
        "# Found in real code",
        "",
        "Written by `nox -s scan-labels`: places in public repositories, at the commit named, whose code",
        "can show a failure of this corpus under the condition given. Each was read by one person; the",
        "reproducer beside it has been run, the repository's own code has not. Nothing here says that",
        "anyone has been harmed by it, and much of it may be changed by now. Nothing was filed anywhere.",
    ]
    places = list(places)
    at = paired(places, found)
    by_id = {one.id: one for one in reproducers}
    for id in sorted(by_id):
        true = [
            label for label in places if label.id == id and label.label == TRUE and label.reached
        ]
        rows: list[tuple[str, str, str]] = []
        for repository, those in groupby(sorted(true), key=lambda label: label.repository):
            seen = [(label, at[label]) for label in those if label in at]
            rows += [
                (f"[{repository}]({label.address})", f"`{label.path}:{label.line}`", one.what)
                for label, one in seen[:SHOWN]
            ]
            if len(seen) > SHOWN:
                rows.append((repository, f"{len(seen) - SHOWN} more like these", ""))
        if rows and by_id[id].rule != "note":
            lines += ["", f"## `{id}`", "", summary(by_id[id]), ""]
            lines.append(table(("repository", "place", "what happens"), rows))
    return "\n".join(lines) + "\n"


def summary(reproducer: Reproducer) -> str:
    """Its title, and the condition of its rule."""
    when = f" It fails when {reproducer.when}." if reproducer.when else ""
    return f"{reproducer.title}.{when}"


@click.command(help=__doc__)
@click.option(
    "--mirrors",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of bare clones, to read files from instead of GitHub.",
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    default=CACHE,
    show_default=True,
    help="Where files that were fetched are kept.",
)
@click.option("--verbose", is_flag=True, help="Print what is wrong, missed or was not read.")
def main(mirrors: Path | None, cache: Path, verbose: bool) -> None:
    reproducers = catalog.ruled(catalog.load())
    every = [label for label in labels() if label.id in {one.id for one in reproducers}]
    found = scanned(every, scanning.rules(reproducers), mirrors, cache)
    sets = {name: [label for label in every if label.set == name] for name in PRECISE}
    if verbose:
        _explain(every, found)
    write(TABLE, render(sets, found, reproducers))
    write(FOUND, found_in_code(every, found, reproducers))
    write_figure("scan", figure(sets["fresh"]))
    sys.exit(finish(problems(sets, found, reproducers)))


def _explain(places: list[Label], found: dict[tuple[str, str, str], list[Finding]]) -> None:
    at = paired(places, found)
    for label in places:
        if (label in at) != (label.label == TRUE):
            said = "found" if label in at else "not found"
            click.echo(f"{label.label}, {said}: {label.id} {label.address} {label.why}")
    read = {(label.file, one) for label, one in at.items()}
    for file, findings in found.items():
        for one in findings:
            if (file, one) not in read:
                click.echo(f"not read: {one.id} {'/'.join(file)}:{one.line} {one.what}")


if __name__ == "__main__":
    main()
