"""Counts the failures that scan finds in training scripts that an expert has read whole.

nox -s scan-recall        or        python -m tests.trials.scan_recall --mirrors DIR

scripts.jsonl has a training script of a public repository per line. A reader who had not seen
scan's output read each script, and the modules of its repository that it uses, and noted every
failure that a review should point out: places.jsonl. The id is null if no reproducer shows the
failure. Rules were written with the places of the half "tuning" in view. Nobody who wrote rules
has seen the places of the half "sealed".

Each repository is fetched from GitHub at its commit and saved in --cache, or read from --mirrors, a
folder of clones named owner+name. The files are read as text and never run.
"""

from __future__ import annotations

import io
import json
import sys
import tarfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from matrix import catalog
from matrix.scan import files, scanning
from tests.trials.scan_labels.__main__ import MIRRORS, SAVED, _git, clone
from tests.trials.shared import DOCS, address, finish, table, write, write_figure

HERE = Path(__file__).parent
TABLE = DOCS / "scan-recall.md"
HALVES = ("sealed", "tuning")
TARGET = 20  # percent of the sealed places whose failure has a reproducer
NOTE = "note"


class Place(NamedTuple):
    repository: str
    commit: str
    path: str
    line: int
    id: str | None
    level: str
    half: str
    why: str

    @property
    def file(self) -> tuple[str, str]:
        return self.repository, self.path


class Script(NamedTuple):
    repository: str
    commit: str
    path: str
    lines: int
    half: str


def _lines(name: str) -> list[dict[str, object]]:
    text = (HERE / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def places() -> list[Place]:
    return [Place(**line) for line in _lines("places.jsonl")]  # type: ignore[arg-type]


def scripts() -> list[Script]:
    return [Script(**line) for line in _lines("scripts.jsonl")]  # type: ignore[arg-type]


def checkout(script: Script, mirrors: Path | None, cache: Path) -> Path:
    """The Python files of the repository at its commit. Raises NotMeasured."""
    folder = cache / "repositories" / script.repository.replace("/", "+") / script.commit
    if not folder.is_dir():
        git = clone(script.repository, script.commit, mirrors, cache)
        archive = _git("--git-dir", str(git), "archive", script.commit, "*.py")
        part = folder.with_name(f"{folder.name}.part")
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(part, filter="data")
        part.rename(folder)
    return folder


def found(
    every: Sequence[Script], rules: list[scanning.Rule], mirrors: Path | None, cache: Path
) -> set[tuple[str, str, str]]:
    """(repository, path, id) of each finding."""
    answers = set()
    with click.progressbar(every, label="reading repositories", file=sys.stderr) as bar:
        for script in bar:
            folder = checkout(script, mirrors, cache)
            findings, _ = scanning.scan(files.find([folder]), rules, jobs=1)
            answers |= {
                (script.repository, finding.path.relative_to(folder).as_posix(), finding.id)
                for finding in findings
            }
    return answers


def is_found(place: Place, answers: set[tuple[str, str, str]]) -> bool:
    """True if scan names the failure in the same file; the absence of a line has no line."""
    return (*place.file, place.id) in answers


def share(some: int, of: int) -> str:
    return f"{some} of {of} ({100 * some / of:.0f} %)" if of else "0 of 0"


def counts(
    half: str, every: Sequence[Place], answers: set[tuple[str, str, str]]
) -> tuple[tuple[int, int], tuple[int, int], int]:
    """(found, all) of the places with a reproducer, the same above notes, and all places."""
    own = [place for place in every if place.half == half]
    known = [place for place in own if place.id]
    loud = [place for place in known if place.level != NOTE]

    def pair(some: list[Place]) -> tuple[int, int]:
        return sum(is_found(place, answers) for place in some), len(some)

    return pair(known), pair(loud), len(own)


def render(
    every: Sequence[Place], read: Sequence[Script], answers: set[tuple[str, str, str]]
) -> str:
    rows = []
    for half in HALVES:
        known, loud, number = counts(half, every, answers)
        of_half = [script for script in read if script.half == half]
        lines = sum(script.lines for script in of_half)
        rows.append((half, len(of_half), lines, number, share(*known), share(*loud)))
    header = (
        "half",
        "scripts",
        "lines",
        "places",
        "found, with a reproducer",
        "errors and warnings",
    )
    kinds = Counter(place.id for place in every if place.id)
    hits = Counter(place.id for place in every if is_found(place, answers))
    by_kind = [(f"`{id}`", number, hits[id]) for id, number in kinds.most_common()]
    return "\n".join(
        [
            "# What an expert sees, and what scan finds",
            "",
            f"`nox -s scan-recall` writes this page. Readers who had not seen the output of `scan` read {len(read)} training scripts",
            f"from {len(read)} public repositories in full, together with the modules that the scripts use. They noted every failure",
            "that a review should point out. The repositories were taken at intervals from lists of generic names, such as",
            "*lstm* or *segmentation*. A place counts as found if `scan` names its failure in the same file. The authors of",
            "the rules knew the places of the half *tuning*. The half *sealed* was compared after the rules were",
            "finished, and nobody who writes rules has seen its places. A place without a reproducer has a failure",
            "that this corpus does not contain. Most of these failures are specific to one project.",
            "",
            table(header, rows, header[1:]),
            "",
            "## By reproducer",
            "",
            table(("reproducer", "places", "found"), by_kind, ("places", "found")),
            "",
        ]
    )


def figure(every: Sequence[Place], answers: set[tuple[str, str, str]]) -> str:
    """The summary for README.md."""
    known, loud, _ = counts("sealed", every, answers)
    return (
        f"- An expert read {len({p.repository for p in every if p.half == 'sealed'})} training scripts and noted "
        f"the failures. Of the noted failures with a reproducer, `scan` finds\n"
        f"  {share(*known)}. Of the errors and warnings alone, it finds {share(*loud)} "
        f"([docs/scan-recall.md]({address(TABLE)}))."
    )


def problems(every: Sequence[Place], answers: set[tuple[str, str, str]]) -> list[str]:
    (some, number), _, _ = counts("sealed", every, answers)
    if number and 100 * some / number < TARGET:
        return [f"sealed: {share(some, number)} found, at least {TARGET} %"]
    return []


@click.command(help=__doc__)
@MIRRORS
@SAVED
def main(mirrors: Path | None, cache: Path) -> None:
    every, read = places(), scripts()
    answers = found(read, scanning.rules(catalog.ruled(catalog.load())), mirrors, cache)
    write(TABLE, render(every, read, answers))
    write_figure("scan-recall", figure(every, answers))
    sys.exit(finish(problems(every, answers)))


if __name__ == "__main__":
    main()
