"""The commands for developing in a clone: new, headers, fixes, lint, grid, site."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

import click

from .. import catalog, checks
from ..evidence import headers as comparing
from ..evidence import store
from ..evidence.states import States
from ..explain.wrapping import Code
from . import options

# The same steps as in CONTRIBUTING.md.
NEXT = """\
1. Fill in the lines marked FILL IN. To list the remaining lines: torch-repros lint
2. Run the reproducer on an affected and on an unaffected torch:
   torch-repros run {id} --python PATH
3. Measure it, and write the header and the tables:
   torch-repros record --only {id}
   torch-repros headers --write
   torch-repros grid && torch-repros lint"""


NEXT_OF_A_RULE = """\
Replace the lines that contain FILL IN, then:
   torch-repros lint
   nox -s tests-cpu -- tests/harness/scan"""


@click.command()
@click.argument("name", metavar="FAMILY/NAME | MESSAGE")
@click.option("--rule", "kind", flag_value="rule", help="Start the rule of a reproducer, for scan.")
@click.option("--cause", "kind", flag_value="cause", help="Start a message with several causes.")
def new(name: str, kind: str | None) -> None:
    """Start a reproducer, a rule or a shared message.

    \b
    torch-repros new amp/scale_is_forgotten
    torch-repros new --rule amp/scale_is_forgotten
    torch-repros new --cause "expected all tensors to be on the same device"

    Creates repros/FAMILY/NAME.py, adds its id to matrix/ids.txt, and prints the next steps. --rule
    creates matrix/scan/rules/FAMILY/NAME.py and a file for its test cases, and adds `rule` to the
    header. --cause adds the message to matrix/messages. FILL IN marks everything that you have to
    write, and `lint` lists the marked lines. A name starts with its meaning and may end with the
    number of a report.

    Exit status: 0 if the file was created; 2 if nothing was changed, because the name is invalid or
    already exists, or the folder is not writable.
    """
    from .. import skeleton

    if click.get_current_context().find_root().obj.repros != catalog.REPROS:
        raise click.UsageError(
            "new adds ids to the project's own list; it cannot be used with --repros"
        )
    try:
        if kind == "rule":
            written = skeleton.create_rule(name)
            options.say("".join(f"wrote {path}\n" for path in written) + f"\n{NEXT_OF_A_RULE}")
        elif kind == "cause":
            path = skeleton.create_message(name)
            left = "Replace every FILL IN. To list the remaining lines: torch-repros lint"
            options.say(f"added it to {path}\n\n{left}")
        else:
            _new_reproducer(name)
    except skeleton.SkeletonError as error:
        raise click.UsageError(str(error)) from None


def _new_reproducer(id: str) -> None:
    from .. import skeleton

    families = catalog.families()
    path = skeleton.create(id)
    options.say(f"wrote {path}\nadded {id} to {checks.IDS}\n")
    if (family := id.partition("/")[0]) not in families:
        near = difflib.get_close_matches(family, families, n=1)
        meant = f" If you meant {near[0]}, delete both and start again." if near else ""
        options.say(f"{family} is a new family; docs/architecture.md lists what it needs.{meant}\n")
    options.say(NEXT.format(id=id))


@click.command()
@click.option(
    "--write", is_flag=True, help="Rewrite `affected`; without it, only show what would change."
)
@options.RECORDS_OPTION
def headers(write: bool, folder: Path) -> None:
    """Update `affected` to match the records.

    \b
    torch-repros headers            what would change, as a diff
    torch-repros headers --write

    Exit status: 0 if all headers match the records; 1 if some differ, or if a record has a verdict
    that no header can express (such as broken or flaky).
    """
    rewritten: dict[Path, str] = {}  # a file may have differences on several devices
    failed = 0
    for difference in comparing.differences(options.load(), States(options.records(folder))):
        path = difference.reproducer.path
        options.say(f"{difference.reproducer.id} on {difference.device}: {difference.why}")
        try:
            before = rewritten.get(path) or _as_is(path)
            after = _corrected(difference, before)
        except (ValueError, OSError) as error:
            options.say(f"  {error}", err=True)
            failed += 1
        else:
            options.say(Code(_diff(path, before, after)))
            rewritten[path] = after
    if write:
        failed += _write(rewritten)
    if not failed and not rewritten:
        options.say("all headers match the records", err=True)
    sys.exit(options.FINDINGS if failed or (rewritten and not write) else options.OK)


def _as_is(path: Path) -> str:
    """The file's text with its original line endings."""
    return path.read_bytes().decode("utf-8")


def _corrected(difference: comparing.Difference, source: str) -> str:
    """The source with the measured specifier in its header. Raises ValueError."""
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
    """Writes the files, and returns the number of files that could not be written."""
    failed = 0
    for path, text in files.items():
        try:
            store.write_whole(path, text)
        except OSError as error:
            options.say(f"{path}: not written: {error.strerror}", err=True)
            failed += 1
    return failed


@click.command()
def fixes() -> None:
    """List every version of the fixes by its hash.

    \b
    torch-repros fixes

    Adds the sha256 of each fix and each of its tests, in the working tree and in every commit, to
    matrix/fix_texts.txt. With this list, `vendored` can tell whether a copy is newer or older than
    the tool. `lint` reports when this command has to be run.

    Exit status: 0.
    """
    from ..vendoring import originals

    options.say(f"{originals.TEXTS}: {options.plural(originals.write_list(), 'text')} added")


@click.command()
@options.RECORDS_OPTION
def lint(folder: Path) -> None:
    """Check headers, ids, fixes and records.

    \b
    torch-repros lint

    Reports the file and line of each problem. No reproducer is run.

    Exit status: 0 if there are no problems, 1 otherwise.
    """
    repros = click.get_current_context().find_root().obj.repros
    problems = checks.lint(repros=repros, folder=folder, cache=checks.CACHE)
    for problem in problems:
        options.say(problem)
    options.say(
        options.plural(len(problems), "problem") if problems else "no problems found", err=True
    )
    sys.exit(options.FINDINGS if problems else options.OK)


@click.command()
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is out of date.")
def grid(check: bool) -> None:
    """Write docs/grid.md and the summary in README.md.

    \b
    torch-repros grid
    torch-repros grid --check    are the files out of date?

    Exit status: 0, or 1 if --check finds a file that is out of date.
    """
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
            options.say(f"{path}: out of date; run: torch-repros grid")
            continue
        try:
            path.write_text(outputs[path], encoding="utf-8")
        except OSError as error:
            raise click.ClickException(f"{path}: not written: {error.strerror}") from None
        options.say(f"wrote {path}")
    if not old:
        options.say(f"all {len(outputs)} files are up to date", err=True)
    sys.exit(options.FINDINGS if check and old else options.OK)


@click.command()
@click.option(
    "--into",
    type=options.FOLDER,
    default=Path("site"),
    show_default=True,
    help="The folder to write.",
)
@click.option(
    "--url",
    default="",
    help="The site's public address. Adds canonical addresses, a sitemap and robots.txt.",
)
@options.RECORDS_OPTION
def site(into: Path, url: str, folder: Path) -> None:
    """Build the website.

    \b
    torch-repros site && xdg-open site/index.html

    The site has a box for pasting a traceback, a table of all failures, a page for each failure and
    for each message with several causes, and the same data as JSON. Files from an earlier build are
    replaced. A folder that contains any other file is refused.

    Exit status: 0 if the website was built, 2 if the folder was refused.
    """
    from ..site import build as building

    if url and not url.startswith(("https://", "http://")):
        raise click.UsageError(f"--url {url}: expected an address such as https://example.org/")
    try:
        files = building.build(into, options.load(), options.records(folder), url)
    except building.SiteError as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.UsageError(f"--into: {error.filename}: {error.strerror}") from None
    size = sum(file.stat().st_size for file in files) / 1e6
    options.say(f"{into / 'index.html'}: {options.plural(len(files), 'file')}, {size:.2f} MB")
