"""The command that runs reproducers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from ..catalog import MAX_TIMEOUT, Reproducer
from ..devices import DEVICES, unusable
from ..run import runner
from ..verdicts import BY_NAME
from . import options

CANNOT_TELL = 125  # `git bisect run` skips the commit


def _seconds(context: click.Context, option: click.Parameter, value: float | None) -> float | None:
    if value is None or 0 < value <= MAX_TIMEOUT:  # not true for NaN
        return value
    raise click.BadParameter(f"{value:g} is not a positive number of seconds up to {MAX_TIMEOUT:g}")


@click.command()
@click.argument("names", nargs=-1, metavar="[ID|FAMILY]...", type=options.ID_OR_FAMILY)
@click.option(
    "--device",
    "devices",
    type=options.DEVICE,
    multiple=True,
    help="Device to run on; repeatable. Default: every device that works here.",
)
@click.option(
    "--python",
    default=sys.executable,
    metavar="PATH",
    type=options.INTERPRETER,
    help="The interpreter whose torch is tested; only torch has to be installed there. "
    "Default: the current interpreter.",
)
@click.option(
    "--repeat",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Number of runs per role; if they disagree, the verdict is flaky. "
    "Each repeat has its own process and hash seed, and needs 3 s more to import torch.",
)
@click.option(
    "--timeout",
    type=float,
    callback=_seconds,
    metavar="SECONDS",
    help="Time limit per run, instead of the header's limit (30 s by default).",
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Maximum number of parallel runs. Default: one per CPU core.",
)
@click.option(
    "--json",
    "json_file",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Also write all results and details to this file.",
)
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Show each result. Default: only for IDs; otherwise, differences and counts per family.",
)
@click.option(
    "--git-bisect",
    is_flag=True,
    help="For `git bisect run` with one ID: "
    "exit with 0 if the bug is absent, 1 if it is reproduced, 125 otherwise.",
)
def run(
    names: tuple[str, ...],
    devices: tuple[str, ...],
    python: str,
    repeat: int,
    timeout: float | None,
    jobs: int | None,
    json_file: Path | None,
    verbose: bool,
    git_bisect: bool,
) -> None:
    """Run reproducers on a torch build.

    \b
    torch-repros run                            everything, on this torch
    torch-repros run amp --python PATH          a family, on another torch
    torch-repros run amp/unscale_twice          is my torch affected?
    torch-repros run repros/amp/unscale_twice.py --device cuda

    Each role runs in a separate process. If only IDs are given, the result of each reproducer is
    shown. Otherwise, only the results that differ from the headers are shown, with counts per
    family.

    An interpreter has 120 s to import torch, or TORCH_REPROS_STARTUP seconds if this is set. On a
    slow network disk, the import may take minutes.

    Exit status: 0 if all results match the headers; 1 if some differ, or if a reproducer cannot be
    read; 2 for a usage error; 3 if a requested device or interpreter is unavailable; 130 if
    interrupted.
    """
    reproducers = options.select(names)
    if git_bisect and len(reproducers) != 1:
        raise click.UsageError(
            f"--git-bisect needs exactly one ID; {len(reproducers)} reproducers are selected"
        )
    if json_file and not json_file.absolute().parent.is_dir():
        raise click.UsageError(f"--json: the folder {json_file.absolute().parent} does not exist")
    try:
        report, missing = _measure(reproducers, python, devices, repeat, timeout, jobs)
    except runner.RunnerError as error:
        options.say(f"Error: {error}", err=True)
        sys.exit(CANNOT_TELL if git_bisect else options.UNUSABLE)
    except KeyboardInterrupt:
        click.echo("interrupted: nothing was run", err=True)
        sys.exit(options.INTERRUPTED)
    ids = {reproducer.id for reproducer in reproducers}
    by_id = bool(names) and ids == set(map(options.named, names))
    _show(report, reproducers, json_file, each=verbose or by_id, families=not by_id)
    if missing is not None:
        click.echo(f"interrupted: {missing}", err=True)
        sys.exit(options.INTERRUPTED)
    if git_bisect:
        sys.exit(_bisect_status(report))
    sys.exit(options.FINDINGS if report.surprises or options.problems() else options.OK)


def _measure(
    reproducers: list[Reproducer],
    python: str,
    devices: tuple[str, ...],
    repeat: int,
    timeout: float | None,
    jobs: int | None,
) -> tuple[runner.Report, str | None]:
    """Returns the report and, after Ctrl-C, what is missing in it. Raises RunnerError."""
    from . import table

    wanted = devices or DEVICES
    with runner.Worker(python, wanted, jobs) as worker:
        failed = [device for device in devices if not worker.devices[device]["ok"]]
        if failed:
            why = (unusable(device, worker.devices[device]["reason"]) for device in failed)
            raise runner.RunnerError("\n".join(why))
        try:
            with table.progress_bar("running reproducers") as advance:
                return runner.run(reproducers, worker, wanted, repeat, timeout, advance), None
        except runner.Interrupted as stop:
            return stop.report, str(stop)


def _show(
    report: runner.Report,
    reproducers: list[Reproducer],
    json_file: Path | None,
    each: bool,
    families: bool,
) -> None:
    from . import table

    failure = None
    try:
        if json_file:  # written first, because the reader of the table may stop early
            json_file.write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        failure = click.UsageError(f"--json: {json_file}: {error.strerror}")
    table.show(report, reproducers, each, families)
    if failure:
        raise failure


def _bisect_status(report: runner.Report) -> int:
    """The exit status that `git bisect run` expects for one reproducer."""
    verdicts = {result.verdict for result in report.results if BY_NAME[result.verdict].ran}
    if verdicts == {"absent"}:
        return 0
    return 1 if verdicts == {"reproduced"} else CANNOT_TELL
