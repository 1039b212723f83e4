"""The commands that keep a clone in order: headers, lint, grid, site."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

import click

from .. import catalog, checks
from ..evidence import headers as comparing
from ..evidence import records
from ..evidence.states import States
from . import options


@click.command()
@click.option(
    "--write", is_flag=True, help="Rewrite `affected`; without it, only show what would change."
)
@options.RECORDS_OPTION
def headers(write: bool, folder: Path) -> None:
    """Bring `affected` in line with the records.

    Exit status: 0 nothing differs any more; 1 something does, or no header can express it (a
    broken or flaky record).
    """
    open_ends = 0
    sources: dict[Path, str] = {}  # as rewritten so far: a file may differ on several devices
    for difference in comparing.differences(options.load(), States(options.records(folder))):
        reproducer = difference.reproducer
        click.echo(f"{reproducer.id} on {difference.device}: {difference.why}")
        if not difference.measured:
            click.echo("  a header cannot express this", err=True)
            open_ends += 1
            continue
        try:
            before = sources.get(reproducer.path) or _as_is(reproducer.path)
            after = comparing.rewrite(before, difference.device, difference.measured)
        except (ValueError, OSError) as error:
            click.echo(f"  {reproducer.path}: {error}", err=True)
            open_ends += 1
            continue
        name = str(reproducer.path)
        click.echo(
            "".join(
                difflib.unified_diff(
                    before.splitlines(True), after.splitlines(True), name, name, n=0
                )
            )
        )
        sources[reproducer.path] = after
    if write:
        for path, text in sources.items():
            try:
                records.write_whole(path, text)
            except OSError as error:
                click.echo(f"{path}: not written: {error.strerror}", err=True)
                open_ends += 1
    elif sources:
        open_ends += len(sources)
    sys.exit(options.FINDINGS if open_ends else options.OK)


def _as_is(path: Path) -> str:
    """A file's text with the line ends that it has."""
    return path.read_bytes().decode("utf-8")


@click.command()
@options.RECORDS_OPTION
def lint(folder: Path) -> None:
    """Check headers, ids, fixes and records.

    Runs nothing. Exit status 1 with file and line of each problem.
    """
    repros = click.get_current_context().find_root().obj.repros
    problems = checks.lint(repros=repros, folder=folder)
    for problem in problems:
        click.echo(problem)
    click.echo(
        options.plural(len(problems), "problem") if problems else "no problems found", err=True
    )
    sys.exit(options.FINDINGS if problems else options.OK)


@click.command()
@click.option(
    "--check", is_flag=True, help="Write nothing; exit with 1 where a file is out of date."
)
def grid(check: bool) -> None:
    """Write docs/grid.md and README's summary."""
    from ..evidence import grid as tables

    if click.get_current_context().find_root().obj.repros != catalog.REPROS:
        raise click.UsageError(
            "grid describes the project's own reproducers; it cannot be used with --repros"
        )
    try:
        outputs = tables.outputs(catalog.ROOT, options.load(), options.records())
    except ValueError as error:
        raise click.ClickException(f"README.md: {error}") from None
    old = [
        path
        for path, text in outputs.items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in old:
        if check:
            click.echo(f"{path}: out of date; run: torch-repros grid")
        else:
            path.write_text(outputs[path], encoding="utf-8")
            click.echo(f"wrote {path}")
    sys.exit(options.FINDINGS if check and old else options.OK)


@click.command()
@click.option(
    "--into", type=options.FOLDER, default=Path("site"), show_default=True, help="Where it goes."
)
@options.RECORDS_OPTION
def site(into: Path, folder: Path) -> None:
    """Build the website.

    The grid, a page per reproducer, and a box to paste a traceback into. Files that an earlier call
    wrote are replaced; a folder that holds anything else is refused.
    """
    from ..answers import site as building

    try:
        files = building.build(into, options.load(), options.records(folder))
    except building.SiteError as error:
        raise click.UsageError(str(error)) from None
    size = sum(file.stat().st_size for file in files) / 1e6
    click.echo(f"{into / 'index.html'}: {options.plural(len(files), 'file')}, {size:.2f} MB")


COMMANDS = (headers, lint, grid, site)
