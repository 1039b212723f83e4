"""Manual changes to the reference fixes; each breaks a promise that mutmut cannot break.

    python -m tests.trials.changes [FAMILY]...        (`nox -s mutants` runs them too)

tests/trials/changes/<family>.toml lists the changes: the broken promise, the lines before and
after, and a reason if no test can detect the change.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from matrix import catalog, toml
from tests.trials.shared import ROOT, finish

FOLDER = Path(__file__).with_name("changes")
KEYS = {"promise", "before", "after"}
TIMEOUT = 600.0  # seconds for one family's tests; a change that makes them hang counts as detected


@dataclass(frozen=True)
class Change:
    family: str
    promise: str  # the broken promise
    before: str  # lines that occur exactly once in the fix
    after: str
    reason: str = ""  # why no test can detect the change

    def apply(self, source: str) -> str:
        """The changed fix.

        Raises ValueError unless the lines occur exactly once. Raises SyntaxError if the result is
        not Python.
        """
        if (count := source.count(self.before)) != 1:
            raise ValueError(f"its lines are in {self.family}.py {count} times: {self.before!r}")
        changed = source.replace(self.before, self.after)
        ast.parse(changed)
        return changed


def load(family: str, folder: Path = FOLDER) -> list[Change]:
    """The changes of a family. Raises ValueError if a key is missing or unknown."""
    path = folder / f"{family}.toml"
    if not path.is_file():
        return []
    listed: list[dict[str, Any]] = toml.loads(path.read_text(encoding="utf-8")).get("change", [])
    for number, item in enumerate(listed, 1):
        if not KEYS <= set(item) <= KEYS | {"reason"}:
            raise ValueError(f"{path}: change {number}: expected {', '.join(sorted(KEYS))}, reason")
    return [Change(family, **item) for item in listed]


def survives(change: Change) -> bool:
    """True if the tests of the family pass despite the change."""
    with tempfile.TemporaryDirectory() as folder:
        for fix in catalog.FIXES.glob("*.py"):
            source = fix.read_text(encoding="utf-8")
            text = change.apply(source) if fix.stem == change.family else source
            Path(folder, fix.name).write_text(text, encoding="utf-8")
        tests = catalog.TESTS / f"test_{change.family}.py"
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(
                [*command, str(tests), "--fixes", folder],
                cwd=ROOT,
                env={**os.environ, "HYPOTHESIS_PROFILE": "ci"},
                capture_output=True,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired:
            return False
    if done.returncode not in (0, 1):
        raise click.ClickException(f"{tests} cannot be run: {done.stdout.decode()[-2000:]}")
    return done.returncode == 0


def measure(changes: list[Change], jobs: int) -> list[Change]:
    """The changes that survive."""
    with ThreadPoolExecutor(jobs) as pool:
        return [change for change, alive in zip(changes, pool.map(survives, changes)) if alive]


def problems(changes: list[Change], surviving: list[Change]) -> list[str]:
    """Survivors without a reason, and reasons for changes that do not survive."""
    problems = []
    for change in changes:
        name = f"{change.family}: {change.promise}"
        if change in surviving and not change.reason:
            problems.append(f"survives: {name}\n- {change.before}\n+ {change.after}")
        if change.reason and change not in surviving:
            problems.append(f"does not survive, so it needs no reason: {name}")
    return problems


@click.command()
@click.argument("names", metavar="[FAMILY]...", nargs=-1)
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count(), show_default="cores")
def main(names: tuple[str, ...], jobs: int) -> None:
    """Make each change and check whether the tests of its family detect the change.

    Exit status: 0 each change is detected or has a reason, 1 otherwise, 2 usage error.
    """
    families = catalog.fixes()
    if unknown := sorted(set(names) - set(families)):
        raise click.UsageError(f"no family {', '.join(unknown)}; expected {', '.join(families)}")
    wrong: list[str] = []
    for family in names or families:
        changes = load(family)
        surviving = measure(changes, jobs)
        killed = len(changes) - len(surviving)
        click.echo(f"{family}: {killed} of {len(changes)} manual changes detected")
        wrong += problems(changes, surviving)
    sys.exit(finish(wrong))


if __name__ == "__main__":
    main()
