"""Runs all cases of each host in a separate process, so that a crash or a hang becomes a row."""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import multiprocessing
import os
import signal
import time
import traceback
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import torch

from tests.trials.hosts.case import CASES, Case, Differs

COMMAND = "nox -s hosts"
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
SECONDS = 300  # time limit of one host
START = "spawn"
HOLDS = "holds"

# Importing a module adds its cases. A host is imported only when one of its cases runs.
for _name in (
    "fabric",
    "trainer",
    "accelerator",
    "huggingface",
    "ranks",
    "compiled",
    "critics",
    "tensordicts",
    "attribution",
):
    importlib.import_module(f"tests.trials.hosts.{_name}")

HOSTS = list(dict.fromkeys(case.host for case in CASES))


class Row(NamedTuple):
    case: Case
    version: str
    outcome: str  # "holds", or a description of the difference


def pins() -> dict[str, str]:
    """The version in which each host is measured; the session installs torch."""
    lines = REQUIREMENTS.read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines)  # type: ignore[misc]


def measure(hosts: Sequence[str]) -> list[Row]:
    """Runs every case of these hosts, and prints a progress line for each host."""
    results = []
    for host in hosts:
        start = time.monotonic()
        rows = measure_host(host)
        held = sum(row.outcome == HOLDS for row in rows)
        seconds = time.monotonic() - start
        click.echo(
            f"{host} {rows[0].version}: {held} of {len(rows)} hold, {seconds:.0f} s", err=True
        )
        results += rows
    return results


def measure_host(host: str) -> list[Row]:
    cases = [case for case in CASES if case.host == host]
    try:
        version = importlib.metadata.version(host).split("+")[0]
    except importlib.metadata.PackageNotFoundError:
        return [Row(case, "-", f"not installed: run `{COMMAND}`") for case in cases]
    pinned = pins().get(host, version)
    if version != pinned:
        return [Row(case, version, f"another version than the pinned {pinned}") for case in cases]
    context = multiprocessing.get_context(START)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_judge_all, args=(host, sender))  # type: ignore[attr-defined]
    process.start()
    sender.close()
    outcomes: list[str] = []
    limit, end = time.monotonic() + SECONDS, ""
    try:
        while len(outcomes) < len(cases):
            if not receiver.poll(max(0.0, limit - time.monotonic())):
                end = f"crashed: still running after {SECONDS} seconds"
                break
            outcome, trace = receiver.recv()
            outcomes.append(outcome)
            if trace:
                click.echo(trace, err=True)
    except EOFError:
        process.join()
        end = f"crashed: the process ended with {process.exitcode}"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # including the processes that it started
        process.kill()
        process.join()
    # The first case without an outcome ended the process; later cases have not run.
    outcomes += [end, *["not run: see the row above"] * len(cases)]
    return [Row(case, version, outcome) for case, outcome in zip(cases, outcomes)]


def _judge_all(host: str, sender: Any) -> None:
    """Runs in the host's process and sends (outcome, traceback) for each case."""
    os.setsid()
    silent = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):  # hosts print greetings, warnings and progress bars
        os.dup2(silent, stream)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for case in CASES:
        if case.host == host:
            sender.send(judge(case))


def judge(case: Case) -> tuple[str, str]:
    """The outcome, and the traceback if the promise does not hold."""
    try:
        case.run()
    except Differs as error:
        return f"differs: {error}", traceback.format_exc()
    except Exception as error:
        return f"crashed: {type(error).__name__}: {error}", traceback.format_exc()
    return HOLDS, ""


def problems(rows: Iterable[Row]) -> list[str]:
    return [
        f"{row.case.host}: {row.case.promise}: {row.outcome}"
        for row in rows
        if row.outcome != HOLDS
    ]
