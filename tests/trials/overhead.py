"""Times the harness: the whole corpus, one run, and a fork compared with a fresh interpreter.

    nox -s bench        or        python -m tests.trials.overhead

All figures are wall-clock times of one call on the CPU. The targets are for a machine with 2 cores.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import dataclass

import click

from matrix import catalog
from matrix.run import runner
from tests.trials.shared import DOCS, NotMeasured, finish, table, write

TABLE = DOCS / "overhead.md"
COMMAND = "python -m tests.trials.overhead"

CORPUS_SECONDS, OVERHEAD_SECONDS, RATIO = 15.0, 0.060, 30.0  # targets


@dataclass
class Overhead:
    torch: str
    cores: int
    corpus: float  # seconds, imports included
    overhead: float  # median seconds of a run without the reproducer's own work
    forked: float  # median seconds of a run, one at a time
    fresh: float  # the same run in a fresh interpreter


def measure(python: str, sample: int) -> Overhead:
    """Runs every role of every reproducer once, then a sample with and without fork."""
    reproducers = catalog.select(catalog.load(), ())
    started = time.perf_counter()
    report = _run(reproducers, python, fork=True)
    corpus = time.perf_counter() - started
    ran = {result.id: result for result in report.results if result.runs}
    # Both variants run one at a time, so that scheduling does not affect the ratio of latencies.
    runnable = [reproducer for reproducer in reproducers if reproducer.id in ran]
    step = max(1, len(runnable) // sample)
    chosen = runnable[::step][:sample]
    return Overhead(
        torch=report.build["torch"],
        cores=runner.cores(),
        corpus=corpus,
        overhead=statistics.median(result.overhead for result in ran.values()),
        forked=_median_wall(chosen, python, fork=True),
        fresh=_median_wall(chosen, python, fork=False),
    )


def _run(
    reproducers: list[catalog.Reproducer], python: str, fork: bool, jobs: int | None = None
) -> runner.Report:
    with runner.Worker(python, ("cpu",), jobs, fork) as worker:
        return runner.run(reproducers, worker, ("cpu",))


def _median_wall(reproducers: list[catalog.Reproducer], python: str, fork: bool) -> float:
    results = _run(reproducers, python, fork, jobs=1).results
    return statistics.median(result.seconds + result.overhead for result in results)


def rows(overhead: Overhead) -> list[tuple[str, str, str, bool]]:
    """The rows: (what, measured, target, True if the target is met)."""
    ratio = overhead.fresh / overhead.forked
    return [
        (
            "whole corpus, imports included",
            f"{overhead.corpus:.1f} s",
            f"at most {CORPUS_SECONDS:.0f} s",
            overhead.corpus <= CORPUS_SECONDS,
        ),
        (
            "median overhead of a run",
            f"{1000 * overhead.overhead:.0f} ms",
            f"at most {1000 * OVERHEAD_SECONDS:.0f} ms",
            overhead.overhead <= OVERHEAD_SECONDS,
        ),
        ("median run, forked", f"{1000 * overhead.forked:.0f} ms", "", True),
        ("median run, fresh interpreter", f"{1000 * overhead.fresh:.0f} ms", "", True),
        ("fresh / forked", f"{ratio:.0f}x", f"at least {RATIO:.0f}x", ratio >= RATIO),
    ]


def problems(overhead: Overhead) -> list[str]:
    return [
        f"missed: {what}: {measured}, {target}"
        for what, measured, target, met in rows(overhead)
        if not met
    ]


def render(overhead: Overhead) -> str:
    cells = [
        (what, measured, target + ("" if met else ", **missed**"))
        for what, measured, target, met in rows(overhead)
    ]
    lines = [
        "# How long the harness takes",
        "",
        f"Measured by `{COMMAND}` with torch {overhead.torch} on {overhead.cores} cores.",
        "",
        table(("what", "measured", "target"), cells, numbers=("measured",)),
    ]
    return "\n".join(lines) + "\n"


@click.command()
@click.option(
    "--python",
    default=sys.executable,
    help="The interpreter whose torch is used. Default: this interpreter.",
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="Reproducers that are also run in fresh interpreters.",
)
def main(python: str, sample: int) -> None:
    """Measure the harness itself on the CPU.

    Writes docs/overhead.md. Exit status: 0 every target is met, 1 a target is missed, 2 usage
    error, 3 the interpreter cannot be used.
    """
    try:
        overhead = measure(python, sample)
    except runner.RunnerError as error:
        raise NotMeasured(str(error)) from None
    write(TABLE, render(overhead))
    sys.exit(finish(problems(overhead)))


if __name__ == "__main__":
    main()
