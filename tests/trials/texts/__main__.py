"""Makes programs fail on a device, saves their output, and asks `explain` for the cause.

    nox -s texts -- --device cuda        or        python -m tests.trials.texts --device cuda

cases.toml has the programs and the reproducer that `explain` must name. The output is saved in
DEVICE.json in the same folder, where tests on every machine read it. With --collect, the output is
only saved, so that the machine needs only torch, click and packaging. No other program should use
the device at the same time, because the last program fills its memory.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import click

from matrix import catalog, toml
from matrix.devices import DEVICES, unusable
from matrix.evidence.store import write_whole
from matrix.run import observe
from matrix.run.worker.build import probe
from tests.trials.shared import NotMeasured, finish

HERE = Path(__file__).parent
SECONDS = 40.0  # time limit of a program, including its import of torch
AT_ONCE = 4  # programs


@dataclass(frozen=True)
class Case:
    """A program that fails, and a reproducer that explain must name."""

    name: str
    devices: tuple[str, ...]
    expects: str
    program: str
    alone: bool = False  # True if no other program can run at the same time


@cache
def cases() -> list[Case]:
    listed = toml.loads((HERE / "cases.toml").read_text(encoding="utf-8"))["case"]
    return [Case(**{**case, "devices": tuple(case["devices"])}) for case in listed]


def collect(device: str, keep: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The build, the device, and the text of each case. Calls `keep` after each case."""
    import torch

    state = probe(device)
    if not state["ok"]:
        raise NotMeasured(unusable(device, state["reason"]))
    texts: dict[str, str] = {}
    collected = {
        "torch": torch.__version__,
        "python": platform.python_version(),
        "hardware": state["name"],
        "texts": texts,
    }

    def text_of(case: Case) -> tuple[Case, str]:
        program = f'device = "{device}"\n{case.program.lstrip()}'
        return case, observe.run_program(program, sys.executable, SECONDS, 0.0)

    listed = [case for case in cases() if device in case.devices]
    with (
        ThreadPool(AT_ONCE) as pool,
        click.progressbar(length=len(listed), label="failing", file=sys.stderr) as bar,
    ):
        together = pool.imap_unordered(text_of, [case for case in listed if not case.alone])
        for case, text in chain(together, map(text_of, [case for case in listed if case.alone])):
            texts[case.name] = text
            collected["texts"] = {
                listed_case.name: texts[listed_case.name]
                for listed_case in listed
                if listed_case.name in texts
            }
            keep(collected)
            bar.update(1)
    return collected


def problems(device: str, texts: dict[str, str]) -> list[str]:
    """The cases without a text, or whose cause is not explain's first answer."""
    from matrix.explain import explain

    reproducers, wrong = catalog.select(catalog.load(), ()), []
    for case in cases():
        if device not in case.devices:
            continue
        if case.name not in texts:
            wrong.append(f"{case.name}: it has no text")
            continue
        answers = explain.find(texts[case.name], reproducers)
        if case.expects not in (answers[0].ids if answers else ()):
            named = ", ".join(answers[0].ids) if answers else "nothing"
            wrong.append(f"{case.name}: explain names {named}, not {case.expects}")
    return wrong


@click.command()
@click.option("--device", type=click.Choice(DEVICES), default="cpu", show_default=True)
@click.option("--collect", "only", is_flag=True, help="Save the texts without explaining them.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the texts go. Default: tests/trials/texts/DEVICE.json.",
)
def main(device: str, only: bool, out: Path | None) -> None:
    """Collect the messages of failures on a device, and check that explain knows the causes.

    Exit status: 0 all messages are explained, 1 some are not, 2 usage error, 3 the device cannot be
    used.
    """
    path = out or HERE / f"{device}.json"

    def keep(collected: dict[str, Any]) -> None:
        write_whole(path, json.dumps(collected, indent=1, ensure_ascii=False) + "\n")

    collected = collect(device, keep)
    click.echo(f"wrote {path}")
    sys.exit(finish([] if only else problems(device, collected["texts"])))


if __name__ == "__main__":
    main()
