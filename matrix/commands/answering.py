"""The commands that answer: explain, search, compare, cite."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import click

from .. import catalog
from ..answers import compare as comparing
from ..answers import explain as explaining
from ..answers import report, text
from ..answers import search as searching
from ..devices import DEVICES
from ..torches import minor
from . import options


@click.command()
@click.argument("what", metavar="[TRACEBACK|FILE|ID]", required=False)
@click.option(
    "--torch",
    "version",
    type=options.VERSION,
    help="The torch it happened on. Default: what the text names.",
)
def explain(what: str | None, version: str | None) -> None:
    """Explain a traceback, a warning or log lines.

    \b
    python train.py 2>&1 | torch-repros explain
    torch-repros explain crash.log
    torch-repros explain "RuntimeError: cudnn RNN backward can only be called in training mode"

    Reads the text given, the file of that name, or else standard input. For an ID, it prints what
    `show` does.

    Exit status: 0 something matches, 1 nothing does.
    """
    reproducers = options.load()
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    measured = text.Measured.load(options.records())
    if what in by_id:
        click.echo(text.full_text(by_id[what], measured, version))
        return
    explanation = _explanation(what, options.select(()))
    version = version or explanation.torch_version
    if not explanation.answers:
        click.echo("No known failure matches this text.")
        if what and (hint := _hint(what, reproducers)):
            click.echo(hint)
        click.echo(
            'Find a silent failure by its symptom: torch-repros search "loss stays constant"'
        )
        sys.exit(options.FINDINGS)
    for number, answer in enumerate(explanation.answers):
        if number:
            click.echo("\n" + "-" * 72 + "\n")
        _print_answer(answer, measured, version, by_id)


def _print_answer(
    answer: explaining.Answer,
    measured: text.Measured,
    version: str | None,
    by_id: dict[str, catalog.Reproducer],
) -> None:
    click.secho(answer.title, bold=True)
    click.echo(f"matched: {' '.join(answer.matched.split())}")
    if not answer.causes:
        click.echo(text.summary(answer.reproducers[0], measured, version))
        return
    click.echo("\nThis message has several possible causes. Check these, most likely first:")
    for position, cause in enumerate(answer.causes, 1):
        click.echo(f"\n {position}. {cause['cause']}\n    {cause['check']}")
        if (reproducer := by_id.get(cause.get("see", ""))) is not None:
            click.echo(f"    {reproducer.id}: {measured.sentence(reproducer, version)}")
            if reproducer.right:
                click.echo(text.labelled("right", reproducer.right, 4))
            click.echo(f"    fix: {text.fix(reproducer)}")
    click.echo("\n`torch-repros show ID` shows everything about one of them.")


def _hint(what: str, reproducers: list[catalog.Reproducer]) -> str:
    """What is wrong where the text looks like the name of a file or an id, or ""."""
    if os.path.isdir(what):
        return f"{what} is a folder; name a file in it."
    if len(what) > 200 or not re.fullmatch(r"\S+[./\\]\S+", what) or os.path.exists(what):
        return ""
    near = options.did_you_mean(what, reproducers) if "/" in what else ""
    return f"There is no file or reproducer {what!r} either" + (f"; {near}" if near else ".")


def _explanation(what: str | None, reproducers: list[catalog.Reproducer]) -> explaining.Explanation:
    if what is None and sys.stdin.isatty():
        raise click.UsageError(
            "nothing to explain: pass some text or a file, or pipe in a program's output"
        )
    try:
        pieces = explaining.read(what, sys.stdin.buffer)
    except explaining.ExplainError as error:
        raise click.UsageError(str(error)) from None
    explanation = explaining.look_up(pieces, reproducers)
    if explanation.blank:
        raise click.UsageError("nothing to explain: the text is empty")
    return explanation


@click.command()
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--limit", type=click.IntRange(1), default=5, show_default=True, help="Show at most this many."
)
def search(words: tuple[str, ...], limit: int) -> None:
    """Find a silent failure by its symptom, in your own words.

    \b
    torch-repros search "loss stays constant"
    torch-repros search memory of the host grows with every epoch

    Several words about what you see find more than one. What is not close is not shown. For an
    error's text, use explain.

    Exit status: 0 something was found, 1 nothing was.
    """
    found = searching.search(" ".join(words), options.select(()))[:limit]
    for one in found:
        click.secho(one.title if one.causes else one.ids[0], bold=True)
        if not one.causes:
            click.echo(f"  {one.title}\n  fix: {text.fix(one.reproducers[0])}")
        for cause in one.causes:
            see = f" ({cause['see']})" if "see" in cause else ""
            click.echo(f"  - {cause['cause']}{see}")
    if not found:
        click.echo("Nothing here is close to these words. `torch-repros list` names all there is.")
        sys.exit(options.FINDINGS)
    click.echo("\n`torch-repros show ID` shows everything about one of them.")


@click.command()
@click.argument("old", metavar="OLD", type=options.VERSION)
@click.argument("new", metavar="NEW", type=options.VERSION)
@click.option(
    "--device",
    "devices",
    type=options.DEVICE,
    multiple=True,
    help="Default: those that were measured on both.",
)
@click.option("--all", "every", is_flag=True, help="Name also what stays, and what is unknown.")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for scripts.")
@options.RECORDS_OPTION
def compare(
    old: str, new: str, devices: tuple[str, ...], every: bool, as_json: bool, folder: Path
) -> None:
    """Show what another torch fixes and breaks.

    \b
    torch-repros compare 2.6 2.13                  an upgrade
    torch-repros compare 2.13 2.6 --device cuda    and back

    From measurements alone: what was not measured on both is listed as not known.

    Exit status: 0 nothing breaks, 1 something does.
    """
    releases, known = options.releases(), options.records(folder)
    first, second = (options.releases((minor(one),))[0] for one in (old, new))
    on_both = [
        device
        for device in DEVICES
        if {first.minor, second.minor}
        <= {record.minor for record in known if record.device == device}
    ]
    chosen = [device for device in DEVICES if device in (devices or on_both)]
    if not chosen or not set(chosen) <= set(on_both):
        where = f" on {', '.join(chosen)}" if chosen else ""
        raise click.UsageError(
            f"torch {first.minor} and {second.minor} were not both measured{where}"
        )
    found = comparing.compare(options.select(()), known, releases, first, second, chosen)
    if as_json:
        click.echo(json.dumps(comparing.as_json(found), indent=1))
    else:
        click.echo(f"torch {first.minor} to {second.minor} on {', '.join(chosen)}\n")
        click.echo(comparing.text(found, every))
    breaks = any(one.change in comparing.BREAKING for one in found.changes)
    sys.exit(options.FINDINGS if breaks else options.OK)


@click.command()
@click.argument("id", metavar="[ID]", required=False)
@click.option(
    "--venue",
    type=click.Choice(report.VENUES),
    help="Where it is to be pasted. Default: github for a bug of PyTorch, forum for others.",
)
@click.option(
    "--torch",
    "version",
    type=options.VERSION,
    help="The release whose record is quoted. Default: the newest that was measured.",
)
@click.option(
    "--run",
    "run_it",
    is_flag=True,
    help="Measure it now, on this machine. Default: quote the newest record.",
)
@click.option(
    "--python",
    metavar="PATH",
    help="With --run: the interpreter whose torch is measured. Default: this one.",
)
@click.option("--device", type=options.DEVICE, help="Default: the first one it concerns.")
@click.option(
    "--upstream",
    is_flag=True,
    help="As a new report to PyTorch. Without ID: list what is not reported there.",
)
def cite(
    id: str | None,
    venue: str | None,
    version: str | None,
    run_it: bool,
    python: str | None,
    device: str | None,
    upstream: bool,
) -> None:
    """Write a bug report about one reproducer.

    \b
    torch-repros cite amp/fused_sgd_skip_leaves_garbage --run   in the form of PyTorch's template
    torch-repros cite amp/unscale_twice --venue forum

    A failure that is absent on that torch and device is not reported, and to PyTorch nothing but
    its own bugs.

    Exit status: 0 the report is on standard output; 1 there is none to make; 3 the device or
    interpreter cannot be used.
    """
    from ..run import observe, runner

    measured = text.Measured.load(records := options.records())
    if id is None:
        if not upstream:
            raise click.UsageError(
                "name a reproducer, or ask for --upstream alone to list what nobody has reported"
            )
        for reproducer in report.unreported(options.select(()), measured.states):
            click.echo(f"{reproducer.id}\n  {reproducer.title}")
        return
    reproducer = options.select_one(id)
    if device and device not in reproducer.affected:
        concerns = ", ".join(reproducer.devices)
        raise click.BadParameter(
            f"{id} does not concern {device}; it concerns {concerns}", param_hint="--device"
        )
    if python and not run_it:
        raise click.UsageError("--python goes with --run")
    if version and run_it:
        raise click.UsageError("--torch quotes a record; --run measures the torch of --python")
    try:
        seen = (
            observe.measured_here(reproducer, python or sys.executable, device)
            if run_it
            else report.from_records(reproducer, records, device, version and minor(version))
        )
        click.echo(
            report.report(reproducer, seen, measured.ranges(reproducer), venue, upstream), nl=False
        )
    except runner.RunnerError as error:
        click.echo(f"Error: {error}", err=True)
        sys.exit(options.UNUSABLE)
    except report.ReportError as error:
        raise click.ClickException(str(error)) from None
