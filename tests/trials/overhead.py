"""What the machine costs on this torch: `python -m matrix.bench`, or `nox -s bench`.

Prints the wall time of the whole corpus (imports included), what one run costs beyond the reproducer's own work, and the
same runs each in a fresh interpreter, all from one call. Exit status 1 when a target is missed.
"""

from __future__ import annotations

import statistics
import sys
import time

import click

from matrix import catalog, runner, table

CORPUS_SECONDS, OVERHEAD_SECONDS, RATIO = 15.0, 0.060, 30.0  # targets, for 2 cores


@click.command()
@click.option(
    "--python",
    default=sys.executable,
    help="The interpreter whose torch is used. Default: this one.",
)
@click.option(
    "--sample",
    type=click.IntRange(1),
    default=8,
    show_default=True,
    help="Reproducers that are also run in fresh interpreters.",
)
def main(python: str, sample: int) -> None:
    """Measure the machine itself on the CPU, one run of every reproducer and role."""
    entries = catalog.select(catalog.load(), ())
    started = time.perf_counter()
    report = _run(entries, python, fork=True)
    corpus = time.perf_counter() - started
    ran = [result for result in report.results if result.runs]
    overhead = statistics.median(result.overhead for result in ran)

    # Every n-th one, so that all families are in it. One at a time on both sides: a ratio of latencies, free of scheduling.
    chosen = [entry for entry in entries if entry.id in {result.id for result in ran}][
        :: max(1, len(ran) // sample)
    ][:sample]
    forked, fresh = (statistics.median(_walls(chosen, python, fork)) for fork in (True, False))

    click.echo(f"torch {report.build['torch']}, {runner.cores()} cores")
    rows = [
        (
            "whole corpus, imports included",
            f"{corpus:.1f} s",
            f"at most {CORPUS_SECONDS:.0f} s",
            corpus <= CORPUS_SECONDS,
        ),
        (
            "median overhead of a run",
            f"{1000 * overhead:.0f} ms",
            f"at most {1000 * OVERHEAD_SECONDS:.0f} ms",
            overhead <= OVERHEAD_SECONDS,
        ),
        ("median run, forked", f"{1000 * forked:.0f} ms", "", True),
        ("median run, fresh interpreter", f"{1000 * fresh:.0f} ms", "", True),
        (
            "fresh / forked",
            f"{fresh / forked:.0f}x",
            f"at least {RATIO:.0f}x",
            fresh / forked >= RATIO,
        ),
    ]
    for name, measured, target, met in rows:
        click.echo(f"  {name:32} {measured:>9}   {target}{'' if met else '   MISSED'}")
    sys.exit(0 if all(met for *_, met in rows) else 1)


def _run(
    entries: list[catalog.Reproducer], python: str, fork: bool, jobs: int | None = None
) -> runner.Report:
    with (
        runner.Worker(python, ("cpu",), jobs, fork) as worker,
        table.progress_bar("running reproducers") as advance,
    ):
        return runner.run(entries, worker, ("cpu",), progress=advance)


def _walls(entries: list[catalog.Reproducer], python: str, fork: bool) -> list[float]:
    return [
        result.seconds + result.overhead for result in _run(entries, python, fork, jobs=1).results
    ]


if __name__ == "__main__":
    main()
