"""Code shared by the trials: exit codes, devices, and tables."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import click

from matrix import devices, toml
from matrix.evidence import grid
from matrix.run.worker.build import probe

MET, MISSED, USAGE, NOT_MEASURED = 0, 1, 2, 3  # click itself exits with 2

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


class NotMeasured(click.ClickException):
    """Raised if the device cannot be used, or the time ran out: no target is met or missed."""

    exit_code = NOT_MEASURED


def why_unusable(device: str) -> str | None:
    """The reason why the device cannot be used, or None."""
    state = probe(device)
    return None if state["ok"] else state["reason"]


def use(device: str) -> None:
    """Ends the trial if the device cannot be used."""
    if reason := why_unusable(device):
        raise NotMeasured(devices.unusable(device, reason))


def table(
    header: Sequence[str], rows: Iterable[Sequence[object]], numbers: Collection[str] = ()
) -> str:
    """A Markdown table. The columns in `numbers` are right-aligned."""
    rule = "".join("---:|" if name in numbers else "---|" for name in header)
    lines = [f"| {' | '.join(map(str, row))} |" for row in (header, *rows)]
    return "\n".join([lines[0], f"|{rule}", *lines[1:]])


def write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")
    click.echo(f"wrote {path.relative_to(ROOT) if path.is_relative_to(ROOT) else path}")


def address(path: Path) -> str:
    """The absolute URL of a project file, because README.md is also shown on other sites."""
    project = toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"{project['urls']['Repository']}/blob/main/{path.relative_to(ROOT).as_posix()}"


def write_figure(name: str, text: str) -> None:
    """Writes the text into README.md, between the markers with this name."""
    readme = ROOT / "README.md"
    write(readme, grid.insert(readme.read_text(encoding="utf-8"), name, f"{text}\n"))


def finish(problems: Sequence[str]) -> int:
    """Reports the problems and returns the exit code."""
    for problem in problems:
        click.echo(problem, err=True)
    return MISSED if problems else MET
