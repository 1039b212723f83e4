"""The commands that list what there is: list, show."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from .. import devices
from . import options


@click.command("list")
@click.argument("names", nargs=-1, metavar="[ID|FAMILY]...")
@click.option("--devices", "rows", is_flag=True, help="List the devices instead.")
@click.option("--rules", is_flag=True, help="List those alone that scan can find in code.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="The headers with every verdict (or the devices) as JSON, for scripts.",
)
def list_(names: tuple[str, ...], rows: bool, rules: bool, as_json: bool) -> None:
    """List the reproducers."""
    if rows:
        found = [asdict(row) for row in devices.ROWS]
        click.echo(json.dumps(found, indent=1) if as_json else "\n".join(devices.DEVICES))
        return
    reproducers = options.select(names, values=False)
    if rules:
        reproducers = [one for one in reproducers if one.rule]
    if as_json:
        from ..answers import exports, text  # here: the list alone does without them

        measured = text.Measured.load(options.records())
        listed = [
            {"id": one.id, **one.header, "verdicts": exports.verdicts(one, measured)}
            for one in reproducers
        ]
        click.echo(json.dumps(listed, indent=1))
        return
    width = max((len(reproducer.id) for reproducer in reproducers), default=0)
    family, lines = None, []
    for reproducer in reproducers:
        if reproducer.family != family:
            family = reproducer.family
            lines.append(click.style(f"\n{family}", bold=True))
        affected = "  ".join(
            f"{device} {specifier}" for device, specifier in reproducer.affected.items()
        )
        retired = "  [retired]" if reproducer.retired else ""
        about = f"{reproducer.rule:7}" if rules else f"{reproducer.kind:6}"
        lines.append(f"  {reproducer.id:{width}}  {about}  {affected}")
        lines.append(click.style(f"  {'':{width}}  {reproducer.title}{retired}", dim=True))
    lines.append(
        f"\n{options.plural(len(reproducers), 'reproducer')}. `torch-repros show ID` explains one."
    )
    click.echo("\n".join(lines))


@click.command()
@click.argument("id", metavar="ID")
@click.option(
    "--torch",
    "version",
    type=options.VERSION,
    help="Your torch, to see what was measured on it.",
)
def show(id: str, version: str | None) -> None:
    """Show everything about one reproducer."""
    from ..answers import text  # here: `list` does without it

    reproducer = options.select_one(id)
    click.echo(text.full_text(reproducer, text.Measured.load(options.records()), version))
