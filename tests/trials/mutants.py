"""The mutation score of every reference fix, by its family's tests alone: `nox -s mutants`, or `python -m matrix.mutants`.

mutmut makes the mutants and runs the tests; this prepares one folder per family, keeps to a time budget, and writes the table.
A run that was stopped goes on where it was: the state lies in .mutants/, and a family starts anew when its fix or its tests changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import click

from matrix import arguments

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / ".mutants"
SURVIVORS = ROOT / "tests" / "survivors.toml"
TABLE = ROOT / "docs" / "mutants.md"
COMMAND = "nox -s mutants"
LEAST = 0.95
DEAD = {1, 3, -11, -9, 24, -24, 36, 152, 255}  # mutmut's exit codes for killed, crashed and timed out

CONFIGURATION = """\
[tool.mutmut]
source_paths = ["reference_fixes"]
also_copy = ["matrix"]
process_isolation = "forkserver"  # torch is imported once, and every mutant starts from a process that ran nothing
use_git_change_detection = false
timeout_multiplier = 4  # a mutant that has not ended after 4 times what its tests take, and 2 s, hangs
timeout_constant = 2
pytest_add_cli_args = ["-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
pytest_add_cli_args_test_selection = ["tests/test_{family}.py"]

[tool.pytest.ini_options]
pythonpath = ["."]
addopts = "--import-mode=importlib"
"""


class Survivor(NamedTuple):
    family: str
    function: str
    change: str  # "- line" and "+ line", as in a diff


class Score(NamedTuple):
    family: str
    mutants: int
    dead: int
    left: int  # not run yet
    survivors: list[Survivor]

    @property
    def value(self) -> float:
        return self.dead / self.mutants if self.mutants else 0.0


def families() -> list[str]:
    return sorted(path.stem for path in (ROOT / "reference_fixes").glob("*.py"))


@click.command()
@click.argument("names", metavar="[FAMILY]...", nargs=-1)
@click.option("--minutes", type=click.FloatRange(min=0, min_open=True), help="Stop after this long; the next call goes on from there.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count(), show_default="cores", help="Mutants tested at a time.")
def main(names: tuple[str, ...], minutes: float | None, jobs: int) -> None:
    """Change the fixes in every way that mutmut knows and count the changes that the tests notice.

    Without FAMILY it runs all of them and writes docs/mutants.md. Exit status: 0 every family reaches 95 % and each
    survivor has its reason in tests/survivors.toml, 1 not so, 3 the time was over before all mutants had run.
    """
    unknown = sorted(set(names) - set(families()))
    if unknown:
        raise click.UsageError(f"no family {', '.join(unknown)}; there are {', '.join(families())}")
    deadline = time.monotonic() + 60 * minutes if minutes else None
    scores = []
    for family in names or families():
        click.echo(f"{family}: ", nl=False)
        score = run(family, jobs, deadline)
        scores.append(score)
        click.echo(f"{score.dead} of {score.mutants} mutants die, {score.value:.1%}{f'; {score.left} not run yet' if score.left else ''}")
    if any(score.left for score in scores):
        click.echo(f"The time was over. `{COMMAND}` goes on from here.")
        sys.exit(arguments.NO_DEVICE)
    reasons = {(entry["family"], entry["function"], entry["change"]): entry["reason"] for entry in _survivors_file()}
    problems = complaints(scores, reasons)
    if not names:
        TABLE.write_text(render(scores, reasons), encoding="utf-8")
        click.echo(f"wrote {TABLE.relative_to(ROOT)}")
    for problem in problems:
        click.echo(problem, err=True)
    sys.exit(arguments.RED if problems else arguments.OK)


def complaints(scores: list[Score], reasons: dict[tuple[str, str, str], str]) -> list[str]:
    """What is red: a score below the least, a survivor without a reason, a reason without its survivor."""
    found = [f"{score.family}: {score.value:.1%} of the mutants die; at least {LEAST:.0%} must" for score in scores if score.value < LEAST]
    alive = {tuple(survivor) for score in scores for survivor in score.survivors}
    measured = {score.family for score in scores}
    for family, function, change in sorted(alive - set(reasons)):
        found.append(f"survivor without a reason in {SURVIVORS.relative_to(ROOT)}:\n\n{_entry(family, function, change)}")
    for family, function, change in sorted(set(reasons) - alive):
        if family in measured:
            found.append(f"{SURVIVORS.relative_to(ROOT)}: no such survivor (any more): {family}.{function}\n{change}")
    return found


def run(family: str, jobs: int, deadline: float | None) -> Score:
    folder = prepare(family)
    # A process group of its own, so that the end of the time budget takes mutmut's children along.
    with (folder / "log").open("ab") as log:
        mutmut = subprocess.Popen(
            [sys.executable, "-m", "mutmut", "run", "--max-children", str(jobs)],
            cwd=folder,
            env={**os.environ, "HYPOTHESIS_PROFILE": "ci"},
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            mutmut.wait(max(1.0, deadline - time.monotonic()) if deadline else None)
        except subprocess.TimeoutExpired:
            pass
        finally:
            if mutmut.poll() is None:
                os.killpg(mutmut.pid, signal.SIGKILL)
                mutmut.wait()
    meta = folder / "mutants" / "reference_fixes" / f"{family}.py.meta"
    if not meta.is_file():
        if deadline and time.monotonic() >= deadline:
            return Score(family, 0, 0, 1, [])
        raise click.ClickException(f"{family}: mutmut made no mutants; the end of {folder / 'log'}:\n{_tail(folder / 'log')}")
    codes: dict[str, int | None] = json.loads(meta.read_text())["exit_code_by_key"]
    # an interrupted child (2) was not judged either
    left = sum(code in (None, 2) for code in codes.values())
    if mutmut.returncode > 0 and left:
        raise click.ClickException(f"{family}: mutmut failed; the end of {folder / 'log'}:\n{_tail(folder / 'log')}")
    alive = [name for name, code in codes.items() if code not in DEAD and code not in (None, 2)]
    return Score(
        family, len(codes), sum(code in DEAD for code in codes.values()), left, [_survivor(folder, family, name) for name in alive]
    )


def prepare(family: str) -> Path:
    """The family's folder: the fix, its tests, and what these import. Anew when any of it changed."""
    sources = ["tests/conftest.py", f"tests/test_{family}.py", "matrix/__init__.py", "matrix/worker.py"]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in sources}
    # torch.optim imports it when it is first used, for 3 s in every child that has not got it from its parent
    texts["tests/conftest.py"] += "\nimport torch._dynamo  # noqa\n"
    texts[f"reference_fixes/{family}.py"] = _undecorated((ROOT / "reference_fixes" / f"{family}.py").read_text(encoding="utf-8"))
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


def _undecorated(text: str) -> str:
    """mutmut leaves decorated functions alone, and our context managers are decorated: decorate them after their definition."""
    pattern = r"@contextlib\.contextmanager\ndef (\w+)(.*?)(?=\n\n\n|\Z)"
    return re.sub(pattern, r"def \1\2\n\n\n\1 = contextlib.contextmanager(\1)", text, flags=re.DOTALL)


def _survivor(folder: Path, family: str, name: str) -> Survivor:
    shown = subprocess.run([sys.executable, "-m", "mutmut", "show", name], cwd=folder, capture_output=True, text=True, check=True).stdout
    lines = [line for line in shown.splitlines() if re.match(r"[-+](?![-+]{2})", line)]
    # x_name__mutmut_7, or xǁClassǁname__mutmut_7
    function = re.sub(r"__mutmut_\d+$", "", name.rpartition(".")[2]).removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
    return Survivor(family, function, "\n".join(f"{line[0]} {line[1:].strip()}" for line in lines))


def _survivors_file() -> list[dict[str, str]]:
    return tomllib.loads(SURVIVORS.read_text(encoding="utf-8")).get("survivor", [])


def _entry(family: str, function: str, change: str) -> str:
    return f"[[survivor]]\nfamily = \"{family}\"\nfunction = \"{function}\"\nchange = '''\n{change}'''\nreason = \"\"\n"


def _tail(log: Path) -> str:
    return re.sub(r".*\r", "", log.read_text(errors="replace")[-3000:])


def render(scores: list[Score], reasons: dict[tuple[str, str, str], str]) -> str:
    lines = [
        "# Mutation scores",
        "",
        f"Written by `{COMMAND}` (mutmut {version('mutmut')}, torch {version('torch').split('+')[0]}, CPU, Hypothesis profile `ci`).",
        "Every mutant of `reference_fixes/<family>.py` meets the tests of `tests/test_<family>.py` alone. A mutant that hangs counts",
        "as noticed; code outside of functions is not mutated.",
        "",
        "| family | mutants | noticed | score | survivors, each explained below |",
        "|---|---:|---:|---:|---:|",
    ]
    for score in scores:
        lines.append(f"| {score.family} | {score.mutants} | {score.dead} | {score.value:.1%} | {len(score.survivors)} |")
    lines += ["", "## Survivors", ""]
    for score in scores:
        for survivor in sorted(set(score.survivors)):
            lines += [f"`{survivor.family}.{survivor.function}`", "", "```diff", survivor.change, "```", "", reasons.get(survivor, "?"), ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    main()
