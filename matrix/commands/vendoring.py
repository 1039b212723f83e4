"""The commands for copies of fixes in other projects: vendor, vendored."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..printing import printable
from . import options

EDITED, MOVED = 4, 8  # bits of the exit status


@click.command()
@click.argument("families", nargs=-1, required=True, metavar="FAMILY...", type=options.Fix())
@click.option(
    "--into",
    "folder",
    required=True,
    type=options.FOLDER,
    help="The folder in your package for the copies.",
)
@click.option(
    "--tests", is_flag=True, help="Also copy the tests of the fixes, into tests/ in this folder."
)
def vendor(families: tuple[str, ...], folder: Path, tests: bool) -> None:
    """Copy reference fixes into your project.

    \b
    torch-repros vendor amp numerics --into src/acme/_vendor
    torch-repros vendor loss --tests --into src/acme/_vendor

    Three lines in each copy state its origin. The folder .torch-repros next to the copies stores
    the original texts, so that `vendored` can always tell your edits from upstream's. Commit it
    together with the copies. A file that you have edited is never overwritten.

    Exit status: 0 if all were copied, 1 if none was copied, 2 for a usage error.
    """
    from ..vendoring import copies, making

    try:
        for path in making.vendor(list(families), folder, tests):
            options.say(f"wrote {path}")
    except copies.VendorError as error:
        raise click.ClickException(str(error)) from None


@click.command()
@click.argument(
    "folder", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR"
)
@click.option("--diff", is_flag=True, help="Show your edits and upstream's separately.")
@click.option(
    "--update",
    is_flag=True,
    help="Merge upstream's changes into your copies; conflicts get git's conflict markers.",
)
def vendored(folder: Path, diff: bool, update: bool) -> None:
    """Show or update vendored copies.

    \b
    torch-repros vendored src/acme/_vendor
    torch-repros vendored src/acme/_vendor --diff      your edits, upstream's
    torch-repros vendored src/acme/_vendor --update    merge both

    Exit status: 0 if unchanged, 4 if edited by you, 8 if changed upstream, 12 for both, 1 if there
    is a problem with a copy or conflicts have to be resolved. With --update: 0, or 1 for a problem
    or conflicts.
    """
    from ..vendoring import copies

    if diff and update:
        raise click.UsageError("use either --diff or --update, not both")
    try:
        sys.exit(_update(folder) if update else _show(folder, diff))
    except copies.VendorError as error:
        raise click.ClickException(str(error)) from None


def _show(folder: Path, diff: bool) -> int:
    from ..vendoring import copies

    status = options.OK
    vendored, problems = copies.read(folder)
    for copy in vendored:
        options.say(f"{copy.path}: {copy.state} (from torch-repros {copy.version})")
        for line in copy.unneeded:
            options.say(f"  {line}")
        status |= EDITED if copy.edited else 0
        status |= MOVED if copy.moved or copy.theirs is None else 0
        if copy.problem:
            problems.append(copy.problem)
        elif diff:
            _show_diff("your edits", copies.differences(copy)[0])
            _show_diff("upstream's", copies.differences(copy)[1])
    return _show_problems(problems) or status


def _show_diff(title: str, diff: str) -> None:
    colours = {"+": "green", "-": "red", "@": "cyan"}
    if diff:
        options.say(f"--- {title}")
        for line in diff.split("\n"):
            click.secho(printable(line), fg=colours.get(line[:1]))  # click colors only a terminal


def _update(folder: Path) -> int:
    from ..vendoring import merging

    result = merging.update(folder)
    for path, count in result.conflicts.items():
        conflicts = f", {options.plural(count, 'conflict')} to resolve by hand" if count else ""
        options.say(f"{path}: merged{conflicts}")
    if result.conflicts:
        files = options.plural(len(result.conflicts), "file")
        versions = "version is" if len(result.conflicts) == 1 else "versions are"
        options.say(f"Updated {files}; the previous {versions} in {result.kept}/*.before")
    elif not result.problems:
        options.say("nothing to merge")
    status = _show_problems(result.problems)
    return options.FINDINGS if any(result.conflicts.values()) else status


def _show_problems(problems: list[str]) -> int:
    for problem in problems:
        options.say(f"Error: {problem}", err=True)
    return options.FINDINGS if problems else options.OK
