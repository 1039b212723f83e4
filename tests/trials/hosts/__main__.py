"""Runs the fixes inside released trainers and compares the results with each host's own.

nox -s hosts        or        python -m tests.trials.hosts [HOST ...]
"""

from __future__ import annotations

import datetime
import platform
import sys
from collections.abc import Iterable, Sequence

import click
import torch

from tests.trials.hosts.measuring import COMMAND, HOLDS, HOSTS, Row, measure, problems
from tests.trials.shared import DOCS, finish, table, write

TABLE = DOCS / "hosts.md"


def render(results: Sequence[Row]) -> str:
    today = datetime.datetime.now(datetime.timezone.utc).date()
    lines = [
        "# The fixes inside other trainers",
        "",
        f"Written by `{COMMAND}` on torch {torch.__version__.split('+')[0]}, Python",
        f"{platform.python_version()}, CPU, on {today}. Small models train in the usual style of their",
        "host, with the fixes in the loop, hooks or callbacks. The results are compared with those of the",
        "host itself, of plain torch, or of a single process. The column *the host alone* shows what the host",
        "does without the fixes. An empty cell means that this was not checked.",
        "",
        rows(results),
    ]
    return "\n".join(lines) + "\n"


def rows(results: Iterable[Row]) -> str:
    cells = [
        (
            row.case.host,
            row.version,
            ", ".join(f"`{name}`" for name in row.case.fixes.split(", ")),
            row.case.promise,
            row.case.alone,
            _outcome(row.outcome),
        )
        for row in results
    ]
    return table(("host", "version", "fixes", "promise", "the host alone", "outcome"), cells)


def _outcome(text: str) -> str:
    if text == HOLDS:
        return text
    return f"**{' '.join(text.split())[:200]}**".replace("|", "\\|")


@click.command()
@click.argument("hosts", nargs=-1, metavar="[HOST]...", type=click.Choice(HOSTS))
def main(hosts: tuple[str, ...]) -> None:
    """Use the fixes inside released trainers and compare the results.

    \b
    python -m tests.trials.hosts                    all hosts; writes docs/hosts.md
    python -m tests.trials.hosts captum accelerate  only these two; prints their rows

    HOST is one of lightning, accelerate, transformers, peft, torch (DistributedDataParallel, FSDP2,
    torch.compile), torchrl, stable-baselines3, tensordict and captum. Each host must be installed
    in the version of tests/trials/hosts/requirements.txt, as nox -s hosts does.

    Exit status: 0 every promise holds, and every host alone behaves as the table says; 1 otherwise,
    or if a host is missing, crashed or hung; 2 usage error.
    """
    results = measure(hosts or HOSTS)
    if hosts:
        click.echo(rows(results))
    else:
        write(TABLE, render(results))
    sys.exit(finish(problems(results)))


if __name__ == "__main__":
    main()
