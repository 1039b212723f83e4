"""Pastes all printed advice into its places and runs it in all settings.

    python -m tests.trials.advice [ID | FAMILY]...        (`nox -s advice`)

Lines under `right` and `use` must match the reference, both in results and in the trainer's state.
Lines under `wrong`, and earlier advice that did harm, must fail in at least one setting.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from matrix import catalog
from tests.trials.advice import pasting, readings
from tests.trials.shared import finish, write


@click.command(help=__doc__)
@click.argument("names", nargs=-1, metavar="[ID | FAMILY]...")
@click.option("--setting", help="Run this setting only.")
@click.option("--verbose", is_flag=True, help="Print the output of each run.")
def main(names: tuple[str, ...], setting: str | None, verbose: bool) -> None:
    import torch

    version = torch.__version__
    by_id = {reproducer.id: reproducer for reproducer in catalog.load() if reproducer.is_current}
    chosen = [
        place
        for place in pasting.places()
        if not names or place.id in names or place.id.split("/")[0] in names
    ]
    pasted = [
        lines
        for place in chosen
        for lines in pasting.printed(place, by_id[place.id], version)
        if setting in (None, lines.setting)
    ]
    pasted += [
        lines
        for place in chosen
        for lines in pasting.once_given(place, by_id[place.id], version)
        if setting in (None, lines.setting)
    ]
    click.echo(f"{len(chosen)} places, {len(pasted)} runs on torch {version}", err=True)
    with tempfile.TemporaryDirectory() as folder:
        ended = pasting.run(pasted, Path(folder))
    if verbose:
        for lines, (status, said) in zip(pasted, ended):
            click.echo(f"{lines}: {'fails' if status else 'fine'}: {said.strip()}")
    problems = pasting.unmet(pasted, ended)
    if not names and not setting and not problems:
        write(readings.PAGE, readings.page())
    sys.exit(finish(problems))


if __name__ == "__main__":
    main()
