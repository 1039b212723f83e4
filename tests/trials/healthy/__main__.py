"""Runs training programs of other people with and without the watch, and compares.

python -m tests.trials.healthy --mirrors DIR --python PYTHON [PATTERN]...

programs.toml lists the programs: repository, commit, path, arguments. Their files are fetched from
GitHub, or read from --mirrors, a folder of clones named owner+name, and run in a temporary copy by
PYTHON, an environment that has their requirements. driver.py generates the data that they would
download. results.jsonl keeps what was measured; tests.trials.watching writes docs/watch.md from it.
"""

from __future__ import annotations

import fnmatch
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import click

from matrix import toml
from matrix.explain import watched
from tests.trials.scan_labels.__main__ import MIRRORS, SAVED, source
from tests.trials.shared import DOCS, NotMeasured, finish, table, write

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs.toml"
RESULTS = HERE / "results.jsonl"
FINDINGS = HERE / "findings.toml"
TITLE = "## Healthy programs of other people"
LOUD = ("error", "warning")
STEPS = 200
FEW = 20  # a program with fewer steps does not count
SECONDS = 120  # for one run; a program that needs longer is not run


class Program(NamedTuple):
    repository: str
    commit: str
    path: str
    kind: str
    arguments: tuple[str, ...] = ()
    before: tuple[str, ...] = ()  # a program that makes the data
    files: dict[str, str] = {}  # files to generate, by path from the program's folder
    steps: int = STEPS
    samples: int = 256  # of MNIST or CIFAR

    @property
    def name(self) -> str:
        return f"{self.repository}/{self.path}"


class Run(NamedTuple):
    status: int
    seconds: float
    state: dict[str, Any] | None  # steps and digest, or None if no optimizer has stepped
    found: list[dict[str, Any]]
    output: str
    failed: list[str]  # checks that failed


def programs() -> list[Program]:
    table = toml.loads(PROGRAMS.read_text(encoding="utf-8"))
    commits = table["commits"]
    every = []
    for each in table["program"]:
        values: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in each.items()
        }
        every.append(Program(commit=commits[each["repository"]], **values))
    return every


class Driver:
    """The process that runs the programs: driver.py under another interpreter."""

    def __init__(self, python: str) -> None:
        variables = {
            "PYTHONHASHSEED": "0",
            "CUDA_VISIBLE_DEVICES": "",
            "MPLBACKEND": "agg",
            "OMP_NUM_THREADS": "1",
            "WANDB_MODE": "disabled",
        }
        self.process = subprocess.Popen(
            [python, str(HERE / "driver.py")],
            env={**os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, program: Program, tree: Path, watch: bool) -> Run:
        """One run of a program, in a copy of its repository."""
        with watched.Watched("some") as watching, tempfile.TemporaryDirectory() as name:
            copy, output, state = Path(name, "copy"), Path(name, "output"), Path(name, "state")
            ignored = shutil.ignore_patterns(".github", "test", "docs", "torch_geometric")
            shutil.copytree(tree, copy, ignore=ignored)
            folder = (copy / program.path).parent
            for path, kind in program.files.items():
                to = folder / path
                to.parent.mkdir(parents=True, exist_ok=True)
                GENERATED[kind](to)
            job = {
                "folder": str(folder),
                "root": str(copy),
                "file": Path(program.path).name,
                "arguments": program.arguments,
                "output": str(output),
                "state": str(state),
                "steps": program.steps,
                "samples": program.samples,
                "seconds": SECONDS,
                "watch": str(watched.STARTUP / "sitecustomize.py") if watch else "",
                "findings": watching.environment()["TORCH_REPROS_WATCH"],
            }
            if program.before:
                self._do({**job, "file": program.before[0], "arguments": [], "watch": ""})
            begin = time.monotonic()
            status = self._do(job)
            seconds = time.monotonic() - begin
            found = [asdict(each) for each in watching.findings()]
            for finding in found:
                finding["file"] = finding["file"].replace(f"{copy}/", "")
            kept = json.loads(state.read_text()) if state.is_file() else None
            said = output.read_text(errors="replace") if output.is_file() else ""
            failed = [f"{check}: {error}" for check, error in watching.failed.items()]
            if watch and "this process is not watched" in said:
                failed.append("not watched")
            return Run(status, seconds, kept, found, said, failed)

    def _do(self, job: dict[str, Any]) -> int:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(job), file=self.process.stdin, flush=True)
        return int(self.process.stdout.readline())


def measure(driver: Driver, program: Program, tree: Path, verbose: bool) -> dict[str, Any]:
    """A line of results.jsonl."""
    plain = driver.run(program, tree, watch=False)
    result: dict[str, Any] = {
        "program": program.name,
        "commit": program.commit,
        "kind": program.kind,
        "arguments": " ".join(program.arguments),
    }
    if verbose:
        click.echo(plain.output[-1500:])
    if plain.status or not plain.state:
        why = plain.output.strip().splitlines() or ["no output"]
        last = why[-1] if plain.status else "no optimizer of torch took a step"
        return {**result, "not_run": last[:200]}
    with_watch = driver.run(program, tree, watch=True)
    if verbose:
        click.echo(with_watch.output[-4000:])
    equal: bool | None = with_watch.state == plain.state
    if not equal and driver.run(program, tree, watch=False).state != plain.state:
        equal = None  # it does not repeat itself
    keys = ("check", "level", "message", "file", "line", "step", "count")
    return {
        **result,
        "steps": plain.state["steps"],
        "equal": equal,
        "status": with_watch.status,
        "seconds": [round(plain.seconds, 1), round(with_watch.seconds, 1)],
        "findings": [{key: each[key] for key in keys} for each in with_watch.found],
        "failed": with_watch.failed,
    }


# Data that some programs expect as files. everything else is in driver.py/.


def words(path: Path) -> None:
    """Made-up names, one per line."""
    draw = random.Random(0)
    parts = ("an", "bel", "cor", "da", "el", "fin", "gor", "ha", "il", "jo", "ka", "lu", "mi", "no")
    names = {"".join(draw.choices(parts, k=draw.randint(1, 4))) for _ in range(2000)}
    path.write_text("\n".join(sorted(names)), encoding="utf-8")


def text(path: Path) -> None:
    """Lines of made-up words in which each word depends on the word before it."""
    draw = random.Random(len(path.name))
    lexicon = [f"{a}{b}" for a in ("ba", "de", "ki", "lo", "mu", "ra") for b in ("n", "s", "t", "")]
    lines = []
    for _ in range(800):
        word, line = draw.randrange(24), []
        for _ in range(draw.randint(4, 12)):
            word = (word * 5 + draw.choice((1, 1, 1, 7))) % 24
            line.append(lexicon[word])
        lines.append(f" {' '.join(line)} ")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def pictures(folder: Path, number: int = 24, size: int = 72) -> None:
    """PNG files of a bright square on noise."""
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(folder.name)
    for index in range(number):
        left, top, colour = draw.randrange(size), draw.randrange(size), draw.randbytes(3)
        rows = b"".join(
            b"\0"
            + b"".join(
                colour if abs(x - left) < 16 and abs(y - top) < 16 else draw.randbytes(3)
                for x in range(size)
            )
            for y in range(size)
        )
        png(folder / f"{index:03}.png", size, rows, colour=2)


def classes(folder: Path) -> None:
    """Four folders of pictures."""
    for each in "abcd":
        pictures(folder / each)


def png(path: Path, size: int, rows: bytes, colour: int) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", size, size, 8, colour, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in parts))


GENERATED: dict[str, Callable[[Path], None]] = {
    "words": words,
    "text": text,
    "pictures": pictures,
    "classes": classes,
}


def results() -> dict[tuple[str, str], dict[str, Any]]:
    """The lines of results.jsonl, by program and arguments."""
    if not RESULTS.is_file():
        return {}
    lines = map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())
    return {(line["program"], line["arguments"]): line for line in lines}


def save(lines: dict[tuple[str, str], dict[str, Any]], every: list[Program]) -> None:
    """Writes the lines in the order of programs.toml."""
    keys = [(each.name, " ".join(each.arguments)) for each in every]
    kept = [json.dumps(lines[key]) for key in keys if key in lines]
    RESULTS.write_text("\n".join(kept) + "\n", encoding="utf-8")


def rank(program: Program, patterns: Sequence[str]) -> int:
    """The index of the first pattern that the program matches, or the number of patterns."""
    hits = (i for i, each in enumerate(patterns) if fnmatch.fnmatch(program.name, f"*{each}*"))
    return next(hits, len(patterns))


def readings() -> list[dict[str, str]]:
    """What a reader found out about each finding above a note: findings.toml."""
    if not FINDINGS.is_file():
        return []
    return list(toml.loads(FINDINGS.read_text(encoding="utf-8"))["finding"])


def section() -> str:
    """The section of docs/watch.md."""
    lines = list(results().values())
    for line in lines:
        if line.get("steps", FEW) < FEW:
            line["not_run"] = f"takes {line.pop('steps')} step only"
    ran = [line for line in lines if "steps" in line]
    loud = [(line, each) for line in ran for each in line["findings"] if each["level"] in LOUD]
    read = {(each["program"], each["check"]): each for each in readings()}
    pairs = list(dict.fromkeys((line["program"], each["check"]) for line, each in loud))
    verdicts = [read[pair]["verdict"] if pair in read else "not read" for pair in pairs]
    false = {pair[0] for pair, verdict in zip(pairs, verdicts) if verdict == "false"}
    first = false | {each["program"] for each in read.values() if each["verdict"] == "false"}
    equal = [line for line in ran if line["equal"]]
    unequal = [line for line in ran if line["equal"] is False]
    unsteady = [line for line in ran if line["equal"] is None]
    rows = []
    for line in ran:
        own = dict.fromkeys(
            f"`{each['check']}`" for each in line["findings"] if each["level"] in LOUD
        )
        same = {True: "yes", False: "no", None: "unsteady"}[line["equal"]]
        shown = f"`{line['program']}`" + (f" `{line['arguments']}`" if line["arguments"] else "")
        rows.append((shown, line["kind"], line["steps"], same, ", ".join(own) or "none"))
    return "\n".join(
        [
            TITLE,
            "",
            "`python -m tests.trials.healthy` writes this section. It runs training programs from public",
            "repositories, unchanged, on small generated data, with and without the watch. A program ends after",
            f"{STEPS} steps of an optimizer, or earlier by itself. The list `programs.toml` follows a recipe that was",
            "written down before the first run. The weights are compared bit for bit after the steps.",
            "Each program runs in a fork of a process that has imported torch, and the watch starts there as",
            "`exec --watch` starts it. After the first run, checks were changed because of their findings in",
            "these programs. The later numbers are therefore not an estimate for other programs.",
            "",
            table(
                ("", "count"),
                [
                    ("programs that ran", len(ran)),
                    ("equal weights with and without the watch", len(equal)),
                    ("different weights", len(unequal)),
                    ("different weights in two runs without the watch", len(unsteady)),
                    (
                        "programs with an error or a warning",
                        len({line["program"] for line, _ in loud}),
                    ),
                    ("errors and warnings: true", verdicts.count("true")),
                    ("errors and warnings: false", verdicts.count("false")),
                    ("errors and warnings: not read", verdicts.count("not read")),
                    ("programs with a false finding", len(false)),
                    ("programs with a false finding in the first run", len(first)),
                    ("programs that could not run", len(lines) - len(ran)),
                ],
                numbers=("count",),
            ),
            "",
            table(("program", "kind", "steps", "equal", "errors and warnings"), rows, ("steps",)),
            "",
            "### Errors and warnings",
            "",
            *[
                f"- `{program}`: `{check}`: {verdict}"
                + (f". {read[program, check]['why']}" if (program, check) in read else "")
                for (program, check), verdict in zip(pairs, verdicts)
            ],
            "",
            "### False findings of the first run",
            "",
            "The checks were changed after the first run, and no longer make these findings.",
            "",
            *[
                f"- `{program}`: `{check}`. {each['why']}"
                for (program, check), each in read.items()
                if (program, check) not in pairs
            ],
            "",
            "### Programs that could not run",
            "",
            "Number of further programs of `programs.toml` that were not tried, for lack of time: "
            f"{len(programs()) - len(lines)}.",
            "",
            *[
                f"- `{line['program']}`: `{line['not_run'].replace('`', chr(39))}`"
                for line in lines
                if "not_run" in line
            ],
            "",
        ]
    )


def write_section() -> None:
    """Replaces the section, which ends docs/watch.md."""
    page = DOCS / "watch.md"
    before = page.read_text(encoding="utf-8").partition(TITLE)[0].rstrip()
    write(page, f"{before}\n\n{section()}")


@click.command(help=__doc__)
@click.argument("patterns", metavar="[PATTERN]...", nargs=-1)
@MIRRORS
@SAVED
@click.option("--python", default=sys.executable, help="The interpreter that runs the programs.")
@click.option("--new", is_flag=True, help="Only run programs without a result.")
@click.option("--verbose", is_flag=True, help="Print the end of each output.")
def main(
    patterns: tuple[str, ...],
    mirrors: Path | None,
    cache: Path,
    python: str,
    new: bool,
    verbose: bool,
) -> None:
    every, lines, driver = programs(), results(), Driver(python)
    for program in sorted(every, key=lambda each: rank(each, patterns)):
        key = (program.name, " ".join(program.arguments))
        if patterns and rank(program, patterns) == len(patterns):
            continue
        if new and key in lines:
            continue
        file = source((program.repository, program.commit, program.path), mirrors, cache)
        tree = cache / f"{program.repository.replace('/', '+')}@{program.commit}"
        assert tree in file.parents
        try:
            line = measure(driver, program, tree, verbose)
        except (subprocess.CalledProcessError, NotMeasured) as error:
            line = {
                "program": program.name,
                "commit": program.commit,
                "kind": program.kind,
                "arguments": key[1],
                "not_run": str(error)[:200],
            }
        lines[key] = line
        save(lines, every)
        loud = [each["check"] for each in line.get("findings", ()) if each["level"] in LOUD]
        told = line.get("not_run") or f"{line['steps']} steps, equal {line['equal']}, {loud}"
        click.echo(f"{program.name}: {told} {line.get('seconds', '')} {line.get('failed') or ''}")
    write_section()
    unequal = [line["program"] for line in lines.values() if line.get("equal") is False]
    sys.exit(finish([f"{name}: the weights differ under the watch" for name in unequal]))


if __name__ == "__main__":
    main()
