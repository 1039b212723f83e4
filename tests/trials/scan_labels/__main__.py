"""Counts the true findings of scan in public code.

nox -s scan-labels        or        python -m tests.trials.scan_labels --mirrors DIR

labels.jsonl has a place per line: repository, commit, path, line, id, and a reader's label. The
label is true (the code as written can show the failure under the rule's condition), harmless (the
surrounding code prevents the failure) or false (the rule misread the code). `"reached": false`
marks a true place that never runs in its repository, because the code is dead or the program stops
earlier with another error. The places in the set "tuning" were read while the rules were written.
The places in "fresh" are in repositories that nobody had read before the rules were finished.
The places in "newer" were read after 55 further rules had been added: at most eight per rule, drawn
at random in 231 repositories that nobody had read before, and at most eight more of what a rule
found there after it was widened. When the rules had been corrected for these places, at most eight
errors or warnings and four notes per rule were read in 44 further repositories.

The Python files of each repository are fetched from GitHub at the commit, or read from --mirrors, a
folder of bare clones named owner+name, and saved in --cache. Rules also read the files around a
place, as in a user's repository. The files are read as text and never run.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
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
SHOWN = 3  # places per repository and rule on the page, because further places are mostly copies
PER_REPOSITORY = 3  # fresh places per rule and repository, because further places are mostly copies
NEAR = 3  # lines, because a reader may name another line of a statement
# Errors and warnings of the fresh set at the first reading. The rules have changed since.
FIRST_READ, FIRST_TRUE, FIRST_DEAD = 132, 119, 22
NEWER_READ, NEWER_TRUE = 175, 144  # errors and warnings of the newer set at their first reading
# percent of the errors and warnings that must be true
PRECISE = {"tuning": 90, "fresh": 85, "newer": 85}


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
    """The counts of one rule or several rules in one set."""

    found: Counter[str]  # label -> the number of found places
    dead: int  # true findings in code that never runs in the repository
    missed: int  # labeled true, reached, and not found
    unread: int  # found in a labeled file, without a label

    @property
    def precision(self) -> float | None:
        total = self.found.total()
        return 100 * self.found[TRUE] / total if total else None

    @property
    def precision_where_run(self) -> float | None:
        """The precision with dead places counted as harmless."""
        total = self.found.total()
        return 100 * (self.found[TRUE] - self.dead) / total if total else None

    @property
    def recall(self) -> float | None:
        total = self.found[TRUE] + self.missed
        return 100 * self.found[TRUE] / total if total else None


def labels() -> list[Label]:
    lines = LABELS.read_text(encoding="utf-8").splitlines()
    return [Label(**json.loads(line)) for line in lines]


def source(file: tuple[str, str, str], mirrors: Path | None, cache: Path) -> Path:
    """The path of a file, beside the other Python files of its commit. Raises NotMeasured."""
    repository, commit, path = file
    tree = cache / f"{repository.replace('/', '+')}@{commit}"
    if not tree.is_dir():
        git = clone(repository, commit, mirrors, cache)
        partial = tree.with_name(f"{tree.name}.partial")
        for name, data in _python_files(git, commit, fetch=mirrors is None):
            to = partial / name
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(data)
        if partial.is_dir():
            partial.rename(tree)
    if not (tree / path).is_file():
        raise NotMeasured(f"no {path} in {repository} at {commit}")
    return tree / path


def _python_files(git: Path, commit: str, fetch: bool) -> Iterator[tuple[str, bytes]]:
    """Yields the names and contents of the commit's Python files that the git directory has."""
    names: dict[str, bytes] = {}
    for entry in _git("--git-dir", str(git), "ls-tree", "-r", "-z", commit).split(b"\0"):
        about, _, name = entry.partition(b"\t")
        if name.endswith(b".py") and about.startswith(b"100"):  # no symbolic links
            names[name.decode(errors="surrogateescape")] = about.split()[2]
    blobs = list(dict.fromkeys(names.values()))
    asked = b"".join(blob + b"\n" for blob in blobs)
    if fetch:  # all at once, because git would fetch each file on its own
        alone = ("--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--stdin")
        _git("--git-dir", str(git), "fetch", "--quiet", *alone, "origin", input=asked)
    stream = io.BytesIO(_git("--git-dir", str(git), "cat-file", "--batch", input=asked))
    data: dict[bytes, bytes] = {}
    for blob in blobs:
        about = stream.readline()
        if about.endswith(b" missing\n"):  # a mirror may lack large files
            continue
        data[blob] = stream.read(int(about.split()[2]))
        stream.readline()
    for path, blob in names.items():
        if blob in data:
            yield path, data[blob]


def clone(repository: str, commit: str, mirrors: Path | None, cache: Path) -> Path:
    """A git directory with the commit: a mirror, or a clone without the files. Raises NotMeasured."""
    if mirrors:
        folder = mirrors / repository.replace("/", "+")
        places = (folder / "repo" / ".git", folder / "repo", folder)
        mirror = next((place for place in places if (place / "objects").is_dir()), None)
        if mirror is None:
            raise NotMeasured(f"no clone of {repository} in {mirrors}")
        return mirror
    git = cache / f"{repository.replace('/', '+')}.git"
    if not git.is_dir():
        _git("init", "--quiet", "--bare", str(git))
        address = f"https://github.com/{repository}"
        _git("--git-dir", str(git), "config", "remote.origin.url", address)
        _git("--git-dir", str(git), "config", "remote.origin.promisor", "true")
        _git("--git-dir", str(git), "config", "remote.origin.partialclonefilter", "blob:none")
    held = ("--git-dir", str(git), "fetch", "--quiet", "--depth=1", "--filter=blob:none")
    _git(*held, "origin", commit)
    return git


def _git(*arguments: str, input: bytes = b"") -> bytes:
    done = subprocess.run(["git", *arguments], input=input, capture_output=True)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()
        raise NotMeasured(f"git {' '.join(arguments[-2:])}: {why}")
    return done.stdout


def scanned(
    places: Iterable[Label], rules: list[scanning.Rule], mirrors: Path | None, cache: Path
) -> dict[tuple[str, str, str], list[Finding]]:
    """Maps each file to its current findings."""
    files = list(dict.fromkeys(label.file for label in places))
    findings = {}
    with click.progressbar(files, label="reading files", file=sys.stderr) as bar:
        for file in bar:
            path = source(file, mirrors, cache)
            _, findings[file], why = scanning.scan_file(path, rules)
            if why:
                raise NotMeasured(f"{path}: {why}")
    return findings


def paired(
    places: Iterable[Label], found: dict[tuple[str, str, str], list[Finding]]
) -> dict[Label, Finding]:
    """Maps each label to the nearest finding. Each finding belongs to at most one label."""
    pairs = sorted(
        (abs(finding.line - label.line), label, finding)
        for label in places
        for finding in found[label.file]
        if finding.id == label.id and abs(finding.line - label.line) <= NEAR
    )
    at: dict[Label, Finding] = {}
    taken = set()
    for _, label, finding in pairs:
        if label not in at and (label.file, finding) not in taken:
            at[label] = finding
            taken.add((label.file, finding))
    return at


def count(
    places: list[Label], found: dict[tuple[str, str, str], list[Finding]], ids: set[str]
) -> Counted:
    """The counts for these rules."""
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
    every = sum(finding.id in ids for file in files for finding in found[file])
    return Counted(kinds, dead, missed, every - kinds.total())


def problems(
    sets: dict[str, list[Label]],
    found: dict[tuple[str, str, str], list[Finding]],
    reproducers: Sequence[Reproducer],
) -> list[str]:
    """Rules and sets whose precision is below the minimum."""
    wrong = []
    serious = {reproducer.id for reproducer in reproducers if reproducer.rule != "note"}
    for name, places in sets.items():
        all_of_them = count(places, found, serious).precision
        if all_of_them is not None and all_of_them < PRECISE[name]:
            wrong.append(f"{name}: {all_of_them:.0f} % true, at least {PRECISE[name]} %")
    every = [label for places in sets.values() for label in places]
    for reproducer in reproducers:
        precision = count(every, found, {reproducer.id}).precision
        least = 70 if reproducer.rule == "note" else 85
        if precision is not None and precision < least:
            wrong.append(
                f"{reproducer.id} ({reproducer.rule}): {precision:.0f} % true, at least {least} %"
            )
    return wrong


def render(
    sets: dict[str, list[Label]],
    found: dict[tuple[str, str, str], list[Finding]],
    reproducers: Sequence[Reproducer],
) -> str:
    lines = [
        "# What scan finds in public code, and how much of it is true",
        "",
        "`nox -s scan-labels` writes this page. One person read each place that `scan` reported, and gave it a label.",
        "The tables use these terms:",
        "",
        "- *true*: the code as written can show the failure under the rule's condition.",
        "- *harmless*: the code around the place prevents the failure.",
        "- *false*: the rule misread the code.",
        "- *dead*: the number of true places that never run in their repository, because nothing calls the",
        "  code or the program stops earlier with another error.",
        "- *precision*: the share of true places among the places that were found and read; *where run* is",
        "  the same share with dead places counted as harmless.",
        "- *recall*: the share of known true places that the rules find. Not all true places are known.",
        "- *tuning*: repositories that were read while the rules were written.",
        "- *fresh*: repositories that were fetched after the rules were finished. At most "
        f"{PER_REPOSITORY} places per rule",
        "  and repository were read. When these places were first read, "
        f"{FIRST_TRUE} of {FIRST_READ} errors and warnings",
        f"  were true ({_share(FIRST_TRUE):.0f} %; where run "
        f"{_share(FIRST_TRUE - FIRST_DEAD):.0f} %). The rules have been corrected since. Two earlier fresh",
        "  sets, now part of tuning, had a precision of 56 % and 75 %, with dead places counted as",
        "  harmless.",
        "- *newer*: repositories that were fetched after 55 further rules had been added. At most eight",
        "  places per rule were drawn at random, and eight more per widened rule. When these places were",
        f"  first read, {NEWER_TRUE} of {NEWER_READ} errors and warnings were true "
        f"({100 * NEWER_TRUE / NEWER_READ:.0f} %). The rules have been",
        "  corrected since.",
        "",
    ]
    serious = {reproducer.id for reproducer in reproducers if reproducer.rule != "note"}
    notes = {reproducer.id for reproducer in reproducers} - serious
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
    lines += ["## By rule", "", "The table combines the sets.", ""]
    every = [label for places in sets.values() for label in places]
    rows = [
        (f"`{reproducer.id}`", reproducer.rule, *_numbers(count(every, found, {reproducer.id})))
        for reproducer in reproducers
    ]
    return "\n".join([*lines, table(("rule", "level", *numbers), rows, numbers)]) + "\n"


def _numbers(counted: Counted) -> tuple[object, ...]:
    shares = (counted.precision, counted.precision_where_run, counted.recall)
    precision, where_run, recall = ("" if share is None else f"{share:.0f} %" for share in shares)
    true, harmless, false = (counted.found[kind] for kind in KINDS)
    kinds = (true, counted.dead, harmless, false)
    return (*kinds, precision, where_run, counted.missed, recall, counted.unread)


def _share(true: int) -> float:
    return 100 * true / FIRST_READ


def figure(places: list[Label]) -> str:
    """The summary for README.md, about the first reading of places not used for tuning."""
    repositories = len({label.repository for label in places})
    return (
        f"- `scan` reported {NEWER_READ} errors and warnings in {repositories} public repositories that its "
        f"rules were not written for.\n  A first reading found {100 * NEWER_TRUE / NEWER_READ:.0f} % of these findings true "
        f"([docs/scan.md]({address(TABLE)}))."
    )


def found_in_code(
    places: Iterable[Label],
    found: dict[tuple[str, str, str], list[Finding]],
    reproducers: Sequence[Reproducer],
) -> str:
    """The text of docs/found.md: the true places of errors and warnings."""
    lines = [
        "# Found in real code",
        "",
        "`nox -s scan-labels` writes this list of places in public repositories, at the linked commit. The",
        "code at each place can show a failure from this corpus under the stated condition. One person read",
        "each place. The reproducers have been run, but the code of the repositories has not. The list does",
        "not mean that anyone was harmed, and much of the code may have changed since. No reports have been",
        "filed.",
    ]
    places = list(places)
    at = paired(places, found)
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    for id in sorted(by_id):
        true = [
            label for label in places if label.id == id and label.label == TRUE and label.reached
        ]
        rows: list[tuple[str, str, str]] = []
        for repository, places_in_it in groupby(sorted(true), key=lambda label: label.repository):
            seen = [(label, at[label]) for label in places_in_it if label in at]
            rows += [
                (f"[{repository}]({label.address})", f"`{label.path}:{label.line}`", finding.what)
                for label, finding in seen[:SHOWN]
            ]
            if len(seen) > SHOWN:
                more = len(seen) - SHOWN
                rows.append((repository, f"{more} more like {'these' if more > 1 else 'this'}", ""))
        if rows and by_id[id].rule != "note":
            lines += ["", f"## `{id}`", "", summary(by_id[id]), ""]
            lines.append(table(("repository", "place", "what happens"), rows))
    return "\n".join(lines) + "\n"


def summary(reproducer: Reproducer) -> str:
    """The title of the reproducer, and the condition of its rule."""
    when = f" This matters if {reproducer.when}." if reproducer.when else ""
    return f"{reproducer.title}.{when}"


# options of the trials that read public repositories
MIRRORS = click.option(
    "--mirrors",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of bare clones, used instead of GitHub.",
)
SAVED = click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    default=CACHE,
    show_default=True,
    help="The folder for fetched files.",
)


@click.command(help=__doc__)
@MIRRORS
@SAVED
@click.option(
    "--verbose", is_flag=True, help="Print the places that are wrong, missed or not read."
)
def main(mirrors: Path | None, cache: Path, verbose: bool) -> None:
    reproducers = catalog.ruled(catalog.load())
    every = [
        label for label in labels() if label.id in {reproducer.id for reproducer in reproducers}
    ]
    found = scanned(every, scanning.rules(reproducers), mirrors, cache)
    sets = {name: [label for label in every if label.set == name] for name in PRECISE}
    if verbose:
        _explain(every, found)
    write(TABLE, render(sets, found, reproducers))
    write(FOUND, found_in_code(every, found, reproducers))
    write_figure("scan", figure(sets["newer"]))
    sys.exit(finish(problems(sets, found, reproducers)))


def _explain(places: list[Label], found: dict[tuple[str, str, str], list[Finding]]) -> None:
    at = paired(places, found)
    for label in places:
        if (label in at) != (label.label == TRUE):
            said = "found" if label in at else "not found"
            click.echo(f"{label.label}, {said}: {label.id} {label.address} {label.why}")
    read = {(label.file, finding) for label, finding in at.items()}
    for file, findings in found.items():
        for finding in findings:
            if (file, finding) not in read:
                click.echo(f"not read: {finding.id} {'/'.join(file)}:{finding.line} {finding.what}")


if __name__ == "__main__":
    main()
