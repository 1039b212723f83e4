"""The mutation score of every reference fix, with the tests of its own family only.

    nox -s mutants -- [FAMILY]... [--minutes N]        or        python -m tests.trials.mutants

mutmut creates the mutants and runs the tests. This module prepares one folder per family, enforces
a time limit, and writes the table. A stopped run can be resumed from the state in .trials/mutants/.
A family starts over if its fix or its tests have changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import modulefinder
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import click

from matrix import catalog, toml
from matrix.run import processes
from tests.trials import changes
from tests.trials.shared import DOCS, ROOT, NotMeasured, finish, table, write

TABLE = DOCS / "mutants.md"
COMMAND = "nox -s mutants"
STATE = ROOT / ".trials" / "mutants"
SURVIVORS = Path(__file__).with_name("survivors.toml")
MINIMUM_SCORE = 0.98

# mutmut's exit codes for killed mutants. Any other code means that the mutant survived.
KILLED_CODES = frozenset(
    {
        1,  # a test failed
        3,  # pytest itself failed
        -11,  # segmentation fault
        -9,  # killed by the system
        24,  # out of processor time (SIGXCPU), as reported by mutmut ...
        -24,  # ... by Python
        152,  # ... and by a shell
        36,  # time-out
        255,  # time-out, in earlier releases
    }
)
LEFT_CODES = frozenset({None, 2})  # not run yet, interrupted

CONFIGURATION = """\
[tool.mutmut]
source_paths = ["reference_fixes"]
also_copy = ["matrix"]
process_isolation = "forkserver"  # torch is imported once; every mutant starts from that state
use_git_change_detection = false
timeout_multiplier = 4  # a mutant hangs if it takes 4 times as long as its tests, plus 2 s
timeout_constant = 2
pytest_add_cli_args = ["-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
pytest_add_cli_args_test_selection = ["tests/fixes/test_{family}.py"]

[tool.pytest.ini_options]
pythonpath = ["."]
addopts = "--import-mode=importlib"
"""


class Survivor(NamedTuple):
    family: str
    function: str
    change: str  # "- line" and "+ line", as in a diff


@dataclass
class Score:
    family: str
    mutants: int
    killed: int
    left: int  # not run yet
    survivors: list[Survivor]

    @property
    def value(self) -> float:
        return self.killed / self.mutants if self.mutants else 0.0

    def __str__(self) -> str:
        left = f"; {self.left} not run yet" if self.left else ""
        return (
            f"{self.family}: {self.killed} of {self.mutants} mutants killed, {self.value:.1%}{left}"
        )


# ---- measuring ----


def measure(families: list[str], jobs: int, deadline: float | None = None) -> list[Score]:
    """The scores, in the order of the families; incomplete after the deadline."""
    scores = []
    for family in families:
        folder = prepare(family)
        _run_mutmut(folder, jobs, deadline)
        scores.append(_score(family, folder, timed_out=_is_over(deadline)))
        click.echo(scores[-1])
    return scores


def prepare(family: str) -> Path:
    """The family's folder with the fix, the tests and their imports; rebuilt after any change."""
    tests = ["tests/conftest.py", "tests/fixes/conftest.py", f"tests/fixes/test_{family}.py"]
    texts = {name: _read(name) for name in [*tests, *_imported(tests)]}
    # torch.optim imports this module on first use, which would take 3 s in every child
    texts["tests/conftest.py"] += "\nimport torch._dynamo  # noqa\n"
    fix = f"reference_fixes/{family}.py"
    texts[fix] = _undecorated(_read(fix))
    texts["pyproject.toml"] = CONFIGURATION.format(family=family)
    key = hashlib.sha256(json.dumps([texts, version("mutmut")]).encode()).hexdigest()
    folder = STATE / family
    if not (folder / "key").is_file() or (folder / "key").read_text() != key:
        shutil.rmtree(folder, ignore_errors=True)
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        (folder / "key").write_text(key)
    return folder


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def _imported(scripts: list[str]) -> list[str]:
    """The modules of the project that the scripts import, other than the fixes and the trials."""
    finder = modulefinder.ModuleFinder([str(ROOT)], excludes=["reference_fixes", "tests"])
    for script in scripts:
        finder.run_script(str(ROOT / script))
    files = [module.__file__ for name, module in finder.modules.items() if name != "__main__"]  # type: ignore[attr-defined]
    return sorted(Path(file).relative_to(ROOT).as_posix() for file in files if file)


def _undecorated(text: str) -> str:
    """The fix with its context managers decorated after their definition.

    mutmut does not change decorated functions.
    """
    pattern = r"@contextlib\.contextmanager\ndef (\w+)(.*?)(?=\n\n\n|\Z)"
    after = r"def \1\2\n\n\n\1 = contextlib.contextmanager(\1)"
    return re.sub(pattern, after, text, flags=re.DOTALL)


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _run_mutmut(folder: Path, jobs: int, deadline: float | None) -> None:
    with (
        (folder / "log").open("ab") as log,
        processes.started(  # also ends child processes at the deadline
            [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs)],
            cwd=folder,
            env={**os.environ, "HYPOTHESIS_PROFILE": "ci"},
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as mutmut,
        contextlib.suppress(subprocess.TimeoutExpired),
    ):
        mutmut.wait(max(1.0, deadline - time.monotonic()) if deadline else None)


def _score(family: str, folder: Path, timed_out: bool) -> Score:
    meta = folder / "mutants" / "reference_fixes" / f"{family}.py.meta"
    codes: dict[str, int | None] = {}
    if meta.is_file():
        codes = json.loads(meta.read_text())["exit_code_by_key"]
    left = sum(code in LEFT_CODES for code in codes.values())
    if not timed_out and (left or not codes):
        end = re.sub(r".*\r", "", (folder / "log").read_text(errors="replace")[-3000:])
        raise click.ClickException(f"{family}: mutmut failed; the end of {folder / 'log'}:\n{end}")
    killed = sum(code in KILLED_CODES for code in codes.values())
    alive = [name for name, code in codes.items() if code not in KILLED_CODES | LEFT_CODES]
    survivors = [_survivor(folder, family, name) for name in alive]
    return Score(family, len(codes), killed, left if codes else 1, survivors)


def _survivor(folder: Path, family: str, name: str) -> Survivor:
    command = [sys.executable, "-m", "mutmut", "show", name]
    shown = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    lines = [line for line in shown.splitlines() if re.match(r"[-+](?![-+]{2})", line)]
    # x_name__mutmut_7, or xǁClassǁname__mutmut_7
    function = re.sub(r"__mutmut_\d+$", "", name.rpartition(".")[2])
    function = function.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
    change = "\n".join(f"{line[0]} {line[1:].strip()}" for line in lines)
    return Survivor(family, function, change)


# ---- judging ----


def reasons() -> dict[Survivor, str]:
    """Maps each survivor in survivors.toml to the reason why no test can kill it."""
    listed = toml.loads(SURVIVORS.read_text(encoding="utf-8")).get("survivor", [])
    return {
        Survivor(item["family"], item["function"], item["change"]): item["reason"]
        for item in listed
    }


def problems(scores: list[Score], reasons: dict[Survivor, str]) -> list[str]:
    """Scores below the minimum, survivors without a reason, reasons without a survivor."""
    wrong = [
        f"{score.family}: {score.value:.1%} of the mutants are killed;"
        f" expected at least {MINIMUM_SCORE:.0%}"
        for score in scores
        if score.value < MINIMUM_SCORE
    ]
    alive = {survivor for score in scores for survivor in score.survivors}
    measured = {score.family for score in scores}
    file = SURVIVORS.relative_to(ROOT)
    for survivor in sorted(alive - set(reasons)):
        wrong.append(f"survivor without a reason in {file}:\n\n{_listed(survivor)}")
    for survivor in sorted(set(reasons) - alive):
        if survivor.family in measured:
            name = f"{survivor.family}.{survivor.function}"
            wrong.append(f"{file}: this mutant does not survive: {name}\n{survivor.change}")
    return wrong


def _listed(survivor: Survivor) -> str:
    """The survivor's entry for survivors.toml."""
    return (
        f'[[survivor]]\nfamily = "{survivor.family}"\nfunction = "{survivor.function}"\n'
        f"change = '''\n{survivor.change}'''\nreason = \"\"\n"
    )


# ---- the table ----

HEADER = ("family", "mutants", "killed", "score", "survivors", "manual changes", "detected")


def render(scores: list[Score], by_hand: dict[str, tuple[int, int]]) -> str:
    """The text of docs/mutants.md.

    Args:
        by_hand: family -> the number of changes by hand, and the number that the tests detect.
    """
    rows = [
        (
            score.family,
            score.mutants,
            score.killed,
            f"{score.value:.1%}",
            len(score.survivors),
            *by_hand[score.family],
        )
        for score in scores
    ]
    lines = [
        "# Mutation scores",
        "",
        f"`{COMMAND}` writes this page with mutmut {version('mutmut')} and",
        f"torch {version('torch').split('+')[0]}, on the CPU, with the Hypothesis profile `ci`.",
        "Each mutant of `reference_fixes/<family>.py` is tested only with",
        "`tests/fixes/test_<family>.py`. A mutant that hangs counts as killed. Code outside functions is",
        "not mutated. A manual change breaks a promise that mutmut cannot break;",
        "`tests/trials/changes/` lists these changes. Each survivor is explained below.",
        "",
        table(HEADER, rows, numbers=HEADER[1:]),
        "",
        "## Survivors",
        "",
    ]
    explained = reasons()
    for score in scores:
        for survivor in sorted(set(score.survivors)):
            lines += [f"`{survivor.family}.{survivor.function}`", ""]
            lines += ["```diff", survivor.change, "```", "", explained.get(survivor, "?"), ""]
    return "\n".join(lines).rstrip() + "\n"


@click.command()
@click.argument("names", metavar="[FAMILY]...", nargs=-1)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop after this long; the next call resumes.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    default=os.cpu_count(),
    show_default="cores",
    help="Mutants tested at a time.",
)
def main(names: tuple[str, ...], minutes: float | None, jobs: int) -> None:
    """Change the fixes in every way that mutmut knows and count the changes that the tests detect.

    Without FAMILY, tests all families and writes docs/mutants.md. Exit status: 0 every family
    reaches 98 % and each survivor has a reason, including the changes by hand, 1 otherwise, 2 usage
    error, 3 the time limit was reached before all mutants had run.
    """
    families = catalog.fixes()
    if unknown := sorted(set(names) - set(families)):
        raise click.UsageError(f"no family {', '.join(unknown)}; expected {', '.join(families)}")
    deadline = time.monotonic() + 60 * minutes if minutes else None
    scores = measure(list(names) or families, jobs, deadline)
    if any(score.left for score in scores):
        raise NotMeasured(f"time limit reached; to resume, run `{COMMAND}` again")
    wrong = problems(scores, reasons())
    by_hand = {}
    for family in names or families:
        listed = changes.load(family)
        surviving = changes.measure(listed, jobs)
        wrong += changes.problems(listed, surviving)
        by_hand[family] = (len(listed), len(listed) - len(surviving))
        click.echo(f"{family}: {by_hand[family][1]} of {len(listed)} manual changes detected")
    if not names:
        write(TABLE, render(scores, by_hand))
    sys.exit(finish(wrong))


if __name__ == "__main__":
    main()
