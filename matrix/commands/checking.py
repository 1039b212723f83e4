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

    Exit status: 0 all headers match the records; 1 some differ, or no header can express a record
    (one that is broken or flaky).
    """
    rewritten: dict[Path, str] = {}  # a file may differ on several devices
    failed = 0
    for difference in comparing.differences(options.load(), States(options.records(folder))):
        path = difference.reproducer.path
        click.echo(f"{difference.reproducer.id} on {difference.device}: {difference.why}")
        try:
            before = rewritten.get(path) or _as_is(path)
            after = _corrected(difference, before)
        except (ValueError, OSError) as error:
            click.echo(f"  {error}", err=True)
            failed += 1
        else:
            click.echo(_diff(path, before, after))
            rewritten[path] = after
    if write:
        failed += _write(rewritten)
    sys.exit(options.FINDINGS if failed or (rewritten and not write) else options.OK)


def _as_is(path: Path) -> str:
    """A file's text with the line ends that it has."""
    return path.read_bytes().decode("utf-8")


def _corrected(difference: comparing.Difference, source: str) -> str:
    """The source with what was measured in its header. Raises ValueError with the reason."""
    if not difference.measured:
        raise ValueError("a header cannot express this")
    try:
        return comparing.rewrite(source, difference.device, difference.measured)
    except ValueError as error:
        raise ValueError(f"{difference.reproducer.path}: {error}") from None


def _diff(path: Path, before: str, after: str) -> str:
    lines = before.splitlines(True), after.splitlines(True)
    return "".join(difflib.unified_diff(*lines, str(path), str(path), n=0))


def _write(files: dict[Path, str]) -> int:
    """Writes the files; returns how many could not be written."""
    failed = 0
    for path, text in files.items():
        try:
            records.write_whole(path, text)
        except OSError as error:
            click.echo(f"{path}: not written: {error.strerror}", err=True)
            failed += 1
    return failed


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
@click.option(
    "--url",
    default="",
    help="Where it will be published: adds canonical addresses, a sitemap and robots.txt.",
)
@options.RECORDS_OPTION
def site(into: Path, url: str, folder: Path) -> None:
    """Build the website.

    A box to paste a traceback into, a table of all failures, a page for each and for each message
    that has several causes, and the same as JSON. Files that an earlier call wrote are replaced; a
    folder that holds anything else is refused.
    """
    from ..answers import site as building

    if url and not url.startswith(("https://", "http://")):
        raise click.UsageError(f"--url {url}: expected an address such as https://example.org/")
    try:
        files = building.build(into, options.load(), options.records(folder), url)
    except building.SiteError as error:
        raise click.UsageError(str(error)) from None
    size = sum(file.stat().st_size for file in files) / 1e6
    click.echo(f"{into / 'index.html'}: {options.plural(len(files), 'file')}, {size:.2f} MB")
