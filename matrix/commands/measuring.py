"""The commands of those who measure and keep the project: record, bisect, expect, lint, grid, merge, torches."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from matrix import arguments, catalog

if TYPE_CHECKING:
    from matrix import records, torches

HERE = Path(__file__).parent


@click.command()
@click.argument("more", nargs=-1, metavar="")
@click.option(
    "--torch", "names", multiple=True, metavar="VERSION...", help="Releases of torches.toml, such as 2.4 2.5. Default: all of them."
)
@click.option("--python", metavar="PATH", help="Measure this interpreter's torch as it is, instead of making environments.")
@click.option("--device", type=arguments.DEVICE, default="cpu", show_default=True)
@click.option("--only", multiple=True, metavar="ID|FAMILY", help="Only these reproducers.")
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True, help="Runs of each role.")
@click.option("--again", is_flag=True, help="Measure what is recorded already once more.")
@click.option(
    "--who",
    type=click.Choice(("hosted", "self", "user")),
    default="user",
    show_default=True,
    help="A hosted CI machine, the project's own, or yours.",
)
@click.option("--keep", is_flag=True, help="Keep the environments, several GB each.")
@arguments.RECORDS_OPTION
@arguments.ENVS_OPTION
def record(
    more: tuple[str, ...],
    names: tuple[str, ...],
    python: str | None,
    device: str,
    only: tuple[str, ...],
    repeat: int,
    again: bool,
    who: str,
    keep: bool,
    folder: Path,
    envs: Path | None,
) -> None:
    """Measure reproducers on releases of torch and keep what was seen as records.

    One environment at a time is made with uv and removed again. Every reproducer is saved as soon as it has run: kill this
    at any moment, and the same call goes on with what is missing. Exit status: 0 all measured and as the headers say; 1
    something differs from its header; 2 wrong usage; 3 a cell could not be measured.
    """
    from matrix import environments, records, runner, table, torches
    from matrix import record as recording

    entries = arguments.select(only)
    names += more
    if python and names:
        raise click.UsageError("--python measures one interpreter; --torch makes environments: give one of them")
    try:
        wanted = torches.find(torches.load(), names)
    except torches.TorchesError as error:
        raise click.BadParameter(str(error)) from None
    failed: list[str] = []
    surprises: list[str] = []

    def measure(interpreter: str, title: str) -> None:
        with runner.Worker(interpreter, (device,)) as worker:
            if not worker.devices[device]["ok"]:
                raise runner.RunnerError(f"no usable {device} here: {worker.devices[device]['reason']}")
            with table.progress_bar(title) as advance:
                cell, results = recording.record(entries, worker, device, folder, repeat, who, again, advance)
        found = [result for result in results if result.surprise]
        surprises.extend(f"{cell.torch}: {result.id}: {result.surprise}" for result in found)
        click.echo(f"{title}: {len(results)} measured, {len(cell.entries)} in {cell.name}, {len(found)} differ from their headers")

    for number, torch in enumerate([None] if python else wanted, 1):
        title = f"torch {torch.version} ({number} of {len(wanted)})" if torch else str(python)
        try:
            if torch is None:
                measure(str(python), title)
            elif missing := _lacking(torch, device, folder, entries, repeat, again):
                click.echo(f"{title}: {missing} to measure; making its environment", err=True)
                with environments.environment(torch, device, envs, keep) as interpreter:
                    measure(interpreter, title)
            else:
                click.echo(f"{title}: nothing to measure")
        except (runner.RunnerError, environments.EnvironmentFailed, records.RecordsError, OSError) as error:
            failed.append(f"{title}: {error}")
            click.echo(f"Error: {failed[-1]}", err=True)
    for line in surprises:
        click.echo(line)
    if surprises:
        click.echo("Headers that are wrong: python -m matrix expect --from-records")
    sys.exit(arguments.NO_DEVICE if failed else arguments.RED if surprises else arguments.OK)


def _lacking(torch: torches.Torch, device: str, folder: Path, entries: list[catalog.Reproducer], repeat: int, again: bool) -> int:
    """How many reproducers this platform has no good record of, known without making the environment."""
    from matrix import record as recording

    cells = _cells(folder)
    have = {entry.id: found for entry in entries for cell, found in _measured_here(entry, device, cells) if cell.minor == torch.minor}
    return len(recording.lacking(entries, device, have, repeat, again))


def _measured_here(entry: catalog.Reproducer, device: str, cells: list[records.Cell]) -> list[tuple[records.Cell, records.Entry]]:
    """The fresh records of a reproducer that were made on a platform like this one."""
    from matrix import records

    return [(cell, found) for cell, found in records.fresh(cells, entry, device) if cell.build["platform"] == sys.platform]


@click.command("bisect")
@click.argument("id", metavar="ID")
@click.option("--device", type=arguments.DEVICE, default="cpu", show_default=True)
@click.option("--good", metavar="VERSION", help="A release known to be without the bug: one end of the range.")
@click.option("--bad", metavar="VERSION", help="A release known to have it: the other end.")
@click.option("--repeat", type=click.IntRange(1), default=5, show_default=True, help="Runs of each role in each release.")
@click.option("--again", is_flag=True, help="Measure anew what is recorded already; without it, records answer where they can.")
@click.option("--keep", is_flag=True, help="Keep the environments, several GB each.")
@arguments.RECORDS_OPTION
@arguments.ENVS_OPTION
def bisect_(
    id: str, device: str, good: str | None, bad: str | None, repeat: int, again: bool, keep: bool, folder: Path, envs: Path | None
) -> None:
    """Find the release that brought a bug or fixed it, in at most ceil(log2 n) + 1 environments.

    Its measurements are left as records. For a checkout of torch itself use `git bisect run python -m matrix run ID --bisect`.
    """
    from matrix import bisection, environments, records, runner, torches
    from matrix import record as recording

    entry = arguments.select_one(id)
    if device not in entry.affected:
        raise click.BadParameter(f"{id} does not concern {device}; its header names {', '.join(entry.affected)}")
    try:
        axis = [torch for torch in torches.load() if not entry.unavailable_reason(torch.version, sys.platform)]
        ends = sorted(axis.index(torches.find(axis, (name,))[0]) for name in (good, bad) if name)
    except torches.TorchesError as error:
        raise click.BadParameter(str(error)) from None
    axis = axis[ends[0] if ends else 0 : ends[1] + 1 if len(ends) == 2 else None]
    if not axis:
        raise click.UsageError(f"{id} is not available in any torch of torches.toml on this platform")
    made: list[str] = []
    recorded = {} if again else {cell.minor: found for cell, found in _measured_here(entry, device, _cells(folder)) if found.runs >= repeat}

    def measure(torch: torches.Torch) -> str:
        if torch.minor in recorded:
            click.echo(f"torch {torch.version}: {recorded[torch.minor].verdict} (recorded {recorded[torch.minor].date})")
            return recorded[torch.minor].verdict
        click.echo(f"torch {torch.version}: making its environment", err=True)
        made.append(torch.minor)
        with environments.environment(torch, device, envs, keep) as interpreter, runner.Worker(interpreter, (device,)) as worker:
            if not worker.devices[device]["ok"]:
                raise runner.RunnerError(f"no usable {device} here: {worker.devices[device]['reason']}")
            cell, _ = recording.record([entry], worker, device, folder, repeat, None, again=True)
        click.echo(f"torch {torch.version}: {cell.entries[id].verdict}")
        return cell.entries[id].verdict

    try:
        result = bisection.bisect(axis, measure)
    except bisection.Undecided as error:
        raise click.ClickException(f"{error}: neither reproduced nor absent, so there is no side to go on") from None
    except (runner.RunnerError, environments.EnvironmentFailed, records.RecordsError, OSError) as error:
        raise click.ClickException(str(error)) from None
    click.echo(f"{id} on {device}: {result.sentence}, from {len(made)} environments of {len(axis)} releases")


@click.command("expect")
@click.option("--from-records", "write", is_flag=True, help="Rewrite `affected` in the headers; without it, only show what would change.")
@arguments.RECORDS_OPTION
def expect_(write: bool, folder: Path) -> None:
    """Compare `affected` in every header with the records, and show the difference as a diff.

    Exit status: 0 nothing differs any more; 1 something does, or cannot be stated (a broken or flaky record).
    """
    import difflib

    from matrix import expect

    open_ends = 0
    for difference in expect.differences(arguments.load(), _cells(folder)):
        path = difference.entry.path
        if not difference.measured:
            click.echo(f"{difference.entry.id} on {difference.device}: {difference.why}: no header can state that", err=True)
            open_ends += 1
            continue
        before = path.read_text(encoding="utf-8")
        current = next(entry for entry in arguments.load() if entry.id == difference.entry.id)  # its other device may just have changed
        after = expect.rewrite(expect.Difference(current, difference.device, difference.measured, difference.why))
        click.echo(f"{difference.entry.id} on {difference.device}: {difference.why}")
        click.echo("".join(difflib.unified_diff(before.splitlines(True), after.splitlines(True), str(path), str(path), n=0)))
        if write:
            path.write_text(after, encoding="utf-8")
        else:
            open_ends += 1
    sys.exit(arguments.RED if open_ends else arguments.OK)


def _cells(folder: Path) -> list[records.Cell]:
    from matrix import records

    try:
        return records.load(folder)
    except records.RecordsError as error:
        raise click.ClickException(str(error)) from None


@click.command("lint")
@arguments.RECORDS_OPTION
def lint_(folder: Path) -> None:
    """Check headers, ids, fixes, tests and records without running anything. Exit status 1 with file and line of each finding."""
    from matrix import lint

    findings = lint.lint(repros=click.get_current_context().find_root().obj, folder=folder)
    for finding in findings:
        click.echo(finding)
    click.echo(f"{len(findings)} findings" if findings else "nothing found", err=True)
    sys.exit(arguments.RED if findings else arguments.OK)


@click.command("grid")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 when a file is not what the records say.")
def grid_(check: bool) -> None:
    """Write matrix/README.md and the summary in README.md from the records."""
    from matrix import grid

    _cells(HERE / "records")
    old = []
    try:
        for path, text in grid.outputs(HERE.parent / "README.md").items():
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                old.append(path)
                if not check:
                    path.write_text(text, encoding="utf-8")
    except ValueError as error:
        raise click.ClickException(f"README.md: {error}") from None
    for path in old:
        click.echo(f"{path}: not what the records say; write it with: python -m matrix grid" if check else f"wrote {path}")
    sys.exit(arguments.RED if check and old else arguments.OK)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR...")
@arguments.RECORDS_OPTION
def merge(folders: tuple[Path, ...], folder: Path) -> None:
    """Join records that were made elsewhere into the project's own.

    Of two measurements of one reproducer in one cell the newer one stays. Two that disagree about the same code are shown, and
    nothing at all is written. Exit status 1 when that happens.
    """
    from matrix import records

    current = {entry.id: entry for entry in arguments.load()}
    merged = {cell.name: cell for cell in _cells(folder)} if folder.is_dir() else {}
    changed, conflicts = set(), []
    for source in folders:
        cells = _cells(source)
        if not cells:
            raise click.ClickException(f"{source}: no records in this folder")
        for cell in cells:
            if cell.name in merged:
                conflicts += records.contradictions(merged[cell.name], cell)
            joined = records.merge(merged[cell.name], cell, current) if cell.name in merged else cell
            if cell.name not in merged or joined.to_json() != merged[cell.name].to_json():
                merged[cell.name] = joined
                changed.add(cell.name)
    if conflicts:
        raise click.ClickException("these records contradict each other; nothing was written\n" + "\n".join(conflicts))
    for name in sorted(changed):
        click.echo(f"wrote {merged[name].save(folder)}")
    click.echo(f"{len(changed)} of {len(merged)} cells changed", err=True)


@click.command("torches")
@click.option("--check", is_flag=True, help="Ask the package index for releases that are not listed; exit with 1 when there are any.")
def torches_(check: bool) -> None:
    """The releases that are measured, with what their environments need."""
    from matrix import environments, torches

    try:
        axis = torches.load()
        if not check:
            for torch in axis:
                click.echo(f"{torch.minor:6} {' '.join(torch.requirements)}  Python {torch.python}")
            return
        lacking = torches.missing(axis, environments.find_uv())
    except (torches.TorchesError, environments.EnvironmentFailed) as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(arguments.NO_DEVICE)
    for version in lacking:
        click.echo(f"torch {version} is released and not in torches.toml")
    click.echo(f"{len(lacking)} to add" if lacking else f"torches.toml has every release from {axis[0].minor} to {axis[-1].minor}")
    sys.exit(arguments.RED if lacking else arguments.OK)


@click.command("page")
@click.option("--into", "folder", type=arguments.FOLDER, help="Where the site goes; what is there is replaced. Default: site/.")
def page_(folder: Path | None) -> None:
    """Build the static site from headers and records: the grid, a page per bug, a box to paste a traceback into."""
    from matrix import page

    folder = folder or page.SITE
    if folder.exists() and any(folder.iterdir()) and not (folder / "page.js").is_file():
        raise click.UsageError(f"{folder} holds something that is no site: name a folder that may be replaced")
    files = page.build(folder)
    click.echo(f"{folder / 'index.html'}: {len(files)} files, {sum(file.stat().st_size for file in files) / 1e6:.2f} MB")


COMMANDS = (record, bisect_, expect_, lint_, grid_, merge, torches_, page_)
