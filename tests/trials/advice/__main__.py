"""Pastes every printed line of advice into its place, in all settings.

    python -m tests.trials.advice [ID | FAMILY]...        (`nox -s advice`)

Lines under `right` and `use` must do what the reference does and leave all else as it leaves it;
lines under `wrong`, and those that were once given and did harm, must not.
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
@click.option("--setting", help="Only this one.")
@click.option("--verbose", is_flag=True, help="Print what each said.")
def main(names: tuple[str, ...], setting: str | None, verbose: bool) -> None:
    import torch

    version = torch.__version__
    by_id = {one.id: one for one in catalog.load() if one.is_current}
    chosen = [
        place
        for place in pasting.places()
        if not names or place.id in names or place.id.split("/")[0] in names
    ]
    pasted = [
        one
        for place in chosen
        for one in pasting.printed(place, by_id[place.id], version)
        if setting in (None, one.setting)
    ]
    pasted += [
        one
        for place in chosen
        for one in pasting.once_given(place, by_id[place.id], version)
        if setting in (None, one.setting)
    ]
    click.echo(f"{len(chosen)} places, {len(pasted)} runs on torch {version}", err=True)
    with tempfile.TemporaryDirectory() as folder:
        ended = pasting.run(pasted, Path(folder))
    if verbose:
        for one, (status, said) in zip(pasted, ended):
            click.echo(f"{one}: {'fails' if status else 'fine'}: {said.strip()}")
    problems = pasting.unmet(pasted, ended)
    if not names and not setting and not problems:
        write(readings.PAGE, readings.page())
    sys.exit(finish(problems))


if __name__ == "__main__":
    main()
