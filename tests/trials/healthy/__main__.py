"""Runs training programs of other people with and without the watch, and compares.

python -m tests.trials.healthy --mirrors DIR --python PYTHON [PATTERN]...

programs.toml lists the programs: repository, commit, path, arguments. Their files are fetched from
GitHub, or read from --mirrors, a folder of clones named owner+name, and run in a temporary copy by
PYTHON, an environment that has their requirements. startup/ generates the data that they would
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
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click

from matrix import toml
from tests.trials.scan_labels.__main__ import MIRRORS, SAVED, source
from tests.trials.shared import ROOT, NotMeasured, finish

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs.toml"
RESULTS = HERE / "results.jsonl"
FINDINGS = HERE / "findings.toml"
LOUD = ("error", "warning")
STEPS = 200
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

    @property
    def name(self) -> str:
        return f"{self.repository}/{self.path}"


class Run(NamedTuple):
    status: int
    seconds: float
    state: dict[str, Any] | None  # steps and digest, or None if no optimizer has stepped
    found: list[dict[str, Any]]
    output: str


def programs() -> list[Program]:
    table = toml.loads(PROGRAMS.read_text(encoding="utf-8"))
    commits = table["commits"]
    return [
        Program(
            commit=commits[each["repository"]],
            **{
                key: tuple(value) if isinstance(value, list) else value
                for key, value in each.items()
            },
        )
        for each in table["program"]
    ]


def run(program: Program, tree: Path, python: str, watched: bool) -> Run:
    """One run of a program, in a copy of its repository."""
    with tempfile.TemporaryDirectory(prefix="healthy-") as name:
        copy, state, report = Path(name, "copy"), Path(name, "state"), Path(name, "report")
        shutil.copytree(tree, copy, ignore=shutil.ignore_patterns(".github", "test", "docs"))
        file = copy / program.path
        for path, kind in program.files.items():
            to = file.parent / path
            to.parent.mkdir(parents=True, exist_ok=True)
            GENERATED[kind](to)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join((str(HERE / "startup"), str(copy))),
            "PYTHONHASHSEED": "0",
            "CUDA_VISIBLE_DEVICES": "",
            "MPLBACKEND": "agg",
            "OMP_NUM_THREADS": "1",
            "WANDB_MODE": "disabled",
            "HEALTHY_GRAPHS": "1" if program.kind == "GNN" else "",
            "HEALTHY_STEPS": str(program.steps),
            "HEALTHY_STATE": str(state),
        }
        if program.before:
            subprocess.run([python, *program.before], cwd=file.parent, env=environment, check=True)
        command = [python, file.name, *program.arguments]
        if watched:
            environment["PYTHONPATH"] += os.pathsep + str(ROOT)
            own = [sys.executable, "-m", "matrix", "exec", "--watch", "--report", str(report)]
            command = [*own, "--", *command]
        begin = time.monotonic()
        try:
            done = subprocess.run(
                command,
                cwd=file.parent,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
            )
            status, output = done.returncode, done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as error:
            status, output = -1, (error.stdout or b"").decode(errors="replace") + "\ntime-out"
        seconds = time.monotonic() - begin
        found = json.loads(report.read_text() or "[]") if report.is_file() else []
        for finding in found:
            finding["file"] = finding["file"].replace(f"{copy}/", "")
        kept = json.loads(state.read_text()) if state.is_file() else None
        return Run(status, seconds, kept, found, output)


def measure(program: Program, tree: Path, python: str, verbose: bool) -> dict[str, Any]:
    """A line of results.jsonl."""
    plain = run(program, tree, python, watched=False)
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
    with_watch = run(program, tree, python, watched=True)
    if verbose:
        click.echo(with_watch.output[-4000:])
    equal: bool | None = with_watch.state == plain.state
    if not equal and run(program, tree, python, watched=False).state != plain.state:
        equal = None  # it does not repeat itself
    keys = ("check", "level", "message", "file", "line", "step", "count")
    marks = ("and was turned off", "this process is not watched")
    return {
        **result,
        "steps": plain.state["steps"],
        "equal": equal,
        "status": with_watch.status,
        "seconds": [round(plain.seconds, 1), round(with_watch.seconds, 1)],
        "findings": [{key: each[key] for key in keys} for each in with_watch.found],
        "failed": [
            line for line in with_watch.output.splitlines() if any(mark in line for mark in marks)
        ],
    }


# Data that some programs expect as files. Everything else is in startup/.


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
    every, lines = programs(), results()
    for program in every:
        key = (program.name, " ".join(program.arguments))
        if patterns and not any(fnmatch.fnmatch(program.name, f"*{each}*") for each in patterns):
            continue
        if new and key in lines:
            continue
        file = source((program.repository, program.commit, program.path), mirrors, cache)
        tree = cache / f"{program.repository.replace('/', '+')}@{program.commit}"
        assert tree in file.parents
        try:
            line = measure(program, tree, python, verbose)
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
    unequal = [line["program"] for line in lines.values() if line.get("equal") is False]
    sys.exit(finish([f"{name}: the weights differ under the watch" for name in unequal]))


if __name__ == "__main__":
    main()
