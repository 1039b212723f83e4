"""The commands that show reproducers: list, show."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby

import click

from .. import devices
from ..catalog import Reproducer, ruled
from ..printing import json_text
from . import options


@click.command("list")
@click.argument("names", nargs=-1, metavar="[ID|FAMILY]...", type=options.ID_OR_FAMILY)
@click.option("--devices", "rows", is_flag=True, help="List the devices instead.")
@click.option("--rules", is_flag=True, help="List only reproducers that scan can find in code.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the headers with every verdict (or the devices) as JSON, for scripts.",
)
def list_(names: tuple[str, ...], rows: bool, rules: bool, as_json: bool) -> None:
    """List the reproducers.

    \b
    torch-repros list amp       a family: kind, releases, title
    torch-repros list --json    every header, for scripts

    The releases are taken from the headers. Use `show` to see the measurements.

    Exit status: 0, 1 if no reproducer can be read, 2 if there is no such id or family.
    """
    if rows:
        facts = [asdict(row) for row in devices.ROWS]
        click.echo(json_text(facts) if as_json else "\n".join(devices.DEVICES))
        return
    reproducers = options.select(names, values=False)
    if rules:
        reproducers = ruled(reproducers)
    if as_json:
        from ..explain import text  # imported here to keep the plain list fast
        from ..site import exports

        measured = text.Measured.load(options.records())
        listed = [
            {
                "id": reproducer.id,
                **reproducer.header,
                "verdicts": exports.verdicts(reproducer, measured),
            }
            for reproducer in reproducers
        ]
        click.echo(json_text(listed))
        return
    for family, members in groupby(reproducers, lambda member: member.family):
        options.say(f"\n{family}", bold=True)
        shown = list(members)
        width = max(len(member.id) for member in shown)
        for member in shown:
            about = f"{member.rule:7}" if rules else f"{member.kind:6}"
            options.say(f"  {member.id:{width}}  {about}  {_affected(member)}")
            retired = "" if member.is_current else "  [retired]"
            options.say(f"    {member.title}{retired}", dim=True)
    count = options.plural(len(reproducers), "reproducer")
    options.say(f"\n{count}. `torch-repros show ID` explains one.")


def _affected(reproducer: Reproducer) -> str:
    """ "cpu, cuda >=1.13  mps >=2.0": devices with the same specifier are grouped."""
    alike: dict[str, list[str]] = {}
    for device in reproducer.devices:
        alike.setdefault(reproducer.affected[device], []).append(device)
    return "  ".join(f"{', '.join(names)} {specifier}" for specifier, names in alike.items())


@click.command()
@click.argument("id", metavar="ID", type=options.ID)
@click.option(
    "--torch",
    "version",
    type=options.VERSION,
    help="Your torch version, to see the measurements on it.",
)
def show(id: str, version: str | None) -> None:
    """Show everything about one reproducer.

    \b
    torch-repros show amp/unscale_twice
    torch-repros show amp/unscale_twice --torch 2.6     is that torch affected?
    torch-repros show repros/amp/unscale_twice.py

    Exit status: 0, 1 if no reproducer can be read, 2 if there is no such id.
    """
    from ..explain import text  # imported here to keep `list` fast

    reproducer = options.select_one(id)
    options.say(text.full_text(reproducer, text.Measured.load(options.records()), version))
