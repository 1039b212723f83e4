"""What the commands share: exit codes, options, and how reproducers are named."""

from __future__ import annotations

from pathlib import Path

import click

from matrix import catalog

OK, RED, NO_DEVICE = 0, 1, 3  # 2 is click's, for wrong usage

VENUES = ("github", "forum", "stackoverflow", "markdown")  # what cite writes for

DEVICE = click.Choice(catalog.DEVICES)
FOLDER = click.Path(file_okay=False, path_type=Path)
RECORDS_OPTION = click.option(
    "--records", "folder", type=FOLDER, default=Path(__file__).with_name("records"), help="Folder of records. Default: the project's own."
)
ENVS_OPTION = click.option("--envs", type=FOLDER, help="Where environments are made. Default: beside uv's cache.")


def load() -> list[catalog.Reproducer]:
    try:
        return catalog.load(click.get_current_context().find_root().obj)
    except catalog.CatalogError as error:
        raise click.ClickException(str(error)) from None


def select(names: tuple[str, ...]) -> list[catalog.Reproducer]:
    entries = load()
    try:
        return catalog.select(entries, names)
    except KeyError as error:
        import difflib

        known = [entry.id for entry in entries] + sorted({entry.family for entry in entries})
        near = difflib.get_close_matches(error.args[0], known, n=3, cutoff=0.4)
        hint = f"; did you mean {', '.join(near)}?" if near else "; `python -m matrix list` names them all"
        raise click.BadParameter(f"no reproducer or family {error.args[0]!r}{hint}") from None


def select_one(id: str) -> catalog.Reproducer:
    found = next((entry for entry in select((id,)) if entry.id == id), None)
    if found is None:
        raise click.BadParameter(f"{id!r} is a family; name one of its reproducers")
    return found
