"""The command line: `python -m matrix`, also installed as `torch-repros`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from matrix import __version__, arguments, catalog, lookup, upkeep


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.option(
    "--repros",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=catalog.REPROS,
    help="Another folder of reproducers, laid out as <family>/<name>.py.",
)
@click.version_option(__version__)
@click.pass_context
def main(context: click.Context, repros: Path) -> None:
    """Reproducers of real PyTorch training failures, run against your torch.

    \b
    python -m matrix list                          what there is
    python -m matrix show amp/unscale_before_scale one of them: cause, control, fix
    python -m matrix run                           all of them, on every device that works here
    python -m matrix run amp --python ~/venv/bin/python    one family, against another environment's torch

    \b
    python -m matrix record --torch 2.4 2.5        measure these releases, and keep what was seen
    python -m matrix bisect amp/autocast_cache_under_no_grad    the release that fixed it
    python -m matrix lint                          headers, ids, fixes and records, without running anything
    python -m matrix grid                          write the tables from the records
    """
    context.obj = repros


@main.command("list")
@click.argument("names", nargs=-1, metavar="[ID|FAMILY]...")
@click.option("--json", "as_json", is_flag=True, help="The headers as JSON, for scripts.")
def list_(names: tuple[str, ...], as_json: bool) -> None:
    """Every reproducer in one line: id, kind, torch versions affected per device, title."""
    entries = arguments.select(names)
    if as_json:
        keys = [
            "id",
            "title",
            "kind",
            "symptom",
            "messages",
            "keywords",
            "sources",
            "fix",
            "requires",
            "affected",
            "stand_in",
            "platform",
            "retired",
        ]
        click.echo(json.dumps([{key: getattr(entry, key) for key in keys} for entry in entries], indent=1))
        return
    width = max(len(entry.id) for entry in entries)
    family = None
    for entry in entries:
        if entry.family != family:
            family = entry.family
            click.secho(f"\n{family}  (reference_fixes/{family}.py)", bold=True)
        affected = "  ".join(f"{device} {specifier}" for device, specifier in entry.affected.items())
        click.echo(f"  {entry.id:{width}}  {entry.kind:6}  {affected}")
        click.secho(f"  {'':{width}}  {entry.title}{'  [retired]' if entry.retired else ''}", dim=True)
    click.echo(f"\n{len(entries)} reproducers. `python -m matrix show ID` explains one, `python -m matrix run` runs them.")


@main.command()
@click.argument("id", metavar="ID")
def show(id: str) -> None:
    """One reproducer: what a user sees, why, what does not help, what does; then its code."""
    entry = arguments.select_one(id)
    click.secho(entry.id, bold=True)
    click.echo(f"{entry.title}\n\n{entry.doc}\n")
    for device in catalog.DEVICES:
        state = entry.affected.get(device, "not applicable")
        state = {"never": "never (a negative control)"}.get(state, state)
        note = f"  (stand-in: {entry.stand_in[device]})" if device in entry.stand_in else ""
        click.echo(f"  {device:5} {state}{note}")
    facts = {"kind": entry.kind, "needs": " ".join(filter(None, [entry.requires and f"torch {entry.requires}", entry.platform]))}
    module, _, function = entry.fix.partition(".")
    facts["fix"] = f"{function}() in reference_fixes/{module}.py" if function else "upgrade torch"
    facts["popular fix"] = "in the file; it leaves a symptom" if "popular_fix" in entry.roles else ""
    facts["retired"] = entry.retired
    for name, fact in facts.items():
        if fact:
            click.echo(f"  {name}: {fact}")
    for source in entry.sources:
        click.echo(f"  {source}")
    click.echo(f"\n{entry.path}:\n")
    click.echo(entry.source.rstrip())


@main.command()
@click.argument("names", nargs=-1, metavar="[ID|FAMILY]...")
@click.option(
    "--device",
    "devices",
    type=arguments.DEVICE,
    multiple=True,
    help="Only this device; may be given again. Default: every device that works here.",
)
@click.option("--python", metavar="PATH", help="The interpreter whose torch is tested; it needs nothing but torch. Default: this one.")
@click.option(
    "--repeat", type=click.IntRange(1), default=1, show_default=True, help="Runs of each role; runs that disagree make a verdict flaky."
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Per run, instead of what its header allows (30 by default).",
)
@click.option("--jobs", type=click.IntRange(1), help="Runs at a time. Default: one per CPU core.")
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, writable=True, path_type=Path), help="Also write everything seen to this file."
)
@click.option(
    "--bisect", is_flag=True, help="For `git bisect run` with one ID: exit 0 when the bug is absent, 1 when reproduced, 125 otherwise."
)
def run(
    names: tuple[str, ...],
    devices: tuple[str, ...],
    python: str | None,
    repeat: int,
    timeout: float | None,
    jobs: int | None,
    json_file: Path | None,
    bisect: bool,
) -> None:
    """Run reproducers, each in a process of its own, and compare what they show with their headers.

    Exit status: 0 everything is as the headers say; 1 something differs, in either direction; 2 wrong usage; 3 a device or
    interpreter that was asked for cannot be used.
    """
    from matrix import runner, table

    entries = arguments.select(names)
    if bisect and len(entries) != 1:
        raise click.UsageError(f"--bisect needs exactly one ID; {len(entries)} reproducers are selected")
    if json_file and not json_file.absolute().parent.is_dir():
        raise click.UsageError(f"--json: no folder {json_file.absolute().parent}")
    wanted = devices or catalog.DEVICES
    try:
        with runner.Worker(python or sys.executable, wanted, jobs) as worker:
            missing = [device for device in devices if not worker.devices[device]["ok"]]
            if missing:
                for device in missing:
                    click.echo(f"no usable {device} here: {worker.devices[device]['reason']}", err=True)
                sys.exit(125 if bisect else arguments.NO_DEVICE)
            with table.progress_bar("running reproducers") as advance:
                report = runner.run(entries, worker, wanted, repeat, timeout, advance)
    except runner.RunnerError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(125 if bisect else arguments.NO_DEVICE)
    if json_file:
        json_file.write_text(json.dumps(report.to_json(), indent=1) + "\n", encoding="utf-8")
    table.show(report, entries)
    if bisect:
        ran = {result.verdict for result in report.results if result.verdict != "unavailable"}
        sys.exit(0 if ran == {"absent"} else 1 if ran == {"reproduced"} else 125)
    sys.exit(arguments.RED if report.surprises else arguments.OK)


for command in (*lookup.COMMANDS, *upkeep.COMMANDS):
    main.add_command(command)
