"""What `run` prints: a progress bar while it works, then the verdict table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from matrix.catalog import Reproducer
from matrix.runner import Report, Result

STYLES = {"reproduced": "yellow", "absent": "green", "unavailable": "dim", "broken": "bold red", "flaky": "bold magenta"}


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """On stderr and only in a terminal, so that a pipe gets the table alone."""
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def show(report: Report, entries: list[Reproducer]) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    usable = [device for device, state in report.devices.items() if state["ok"]]
    table = Table(box=None, pad_edge=False, header_style="bold")
    widths = {"reproducer": max(len(entry.id) for entry in entries), "device": 6, "verdict": 15, "popular fix": 13}
    for name, width in widths.items():
        table.add_column(name, no_wrap=True, width=width)
    # "seen" alone gives way in a narrow terminal; the other columns are what a reader scans for
    table.add_column("seen", no_wrap=True, overflow="ellipsis", max_width=max(20, console.width - sum(widths.values()) - 9))
    for entry in entries:
        mine = [result for result in report.results if result.id == entry.id]
        here = [result for result in mine if result.device in usable]
        for result in here:
            table.add_row(*_row(result))
        if not here:
            needs = " or ".join(entry.affected)
            table.add_row(entry.id, Text(needs, "dim"), Text("needs " + needs, "dim"), "", Text(entry.title, "dim"))
    console.print(table)
    console.print()
    _summary(console, report)


def _row(result: Result) -> tuple[str, str | Text, Text, Text, Text]:
    verdict = Text(result.verdict, STYLES[result.verdict])
    if result.runs > 1:
        verdict.append(f" {result.agreeing}/{result.runs}", "dim")
    if result.surprise:
        verdict.append(" (!)", "bold red")
    popular = {None: Text(""), "": Text("helps (!)", "bold red")}.get(result.popular_fix, Text("does not help", "yellow"))
    device = Text(result.device + ("*" if result.stand_in else ""))
    return result.id, device, verdict, popular, Text(" ".join((result.text or result.detail).split()))


def _summary(console: Console, report: Report) -> None:
    build = report.build
    console.print(Text(f"torch {build['torch']}, Python {build['python']}, {build['os']}", "bold"))
    for device, state in report.devices.items():
        cells = [result for result in report.results if result.device == device]
        if not state["ok"]:
            console.print(Text(f"  {device:4}  {len(cells)} cells not run, no usable {device} here: {state['reason']}", "dim"))
            continue
        counts = Counter(result.verdict for result in cells)
        parts = [f"{counts[name]} {name}" for name in STYLES if counts[name]]
        console.print(Text(f"  {device:4}  {', '.join(parts) or 'no cells'}{f'  ({name})' if (name := state.get('name')) else ''}"))
    if any(result.stand_in for result in report.results):
        console.print(Text("  *     a stand-in plays the device's part; `python -m matrix show ID` says which", "dim"))
    unhelpful = sum(bool(result.popular_fix) for result in report.results)
    if unhelpful:
        console.print(f"  {unhelpful} popular fixes were run and leave a symptom.")
    if not report.surprises:
        console.print(Text("Everything is as the headers say.", "bold green"))
        return
    console.print(Text(f"{len(report.surprises)} cells differ from their headers (!):", "bold red"))
    for result in report.surprises:
        console.print(Text(f"  {result.id} on {result.device}: {result.surprise}"), soft_wrap=True)
