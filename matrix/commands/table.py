"""What `run` prints: a progress bar while it works, then the table of verdicts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from ..catalog import Reproducer
from ..devices import unusable
from ..run.runner import Report
from ..verdicts import BY_NAME, ROWS, TONES, Result

COLUMNS = ("reproducer", "device", "verdict", "popular fix", "seen")


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """On stderr and only in a terminal, so that a pipe gets the table alone."""
    columns = (TextColumn(title), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task("", total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def show(report: Report, reproducers: list[Reproducer]) -> None:
    """The results in the reproducers' order, and a summary."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(_table(_rows(report, reproducers), console.width))
    console.print()
    _summary(console, report)


def _rows(report: Report, reproducers: list[Reproducer]) -> list[list[Text]]:
    usable = {device for device, state in report.devices.items() if state["ok"]}
    results = defaultdict(list)
    for result in report.results:
        if result.device in usable:
            results[result.id].append(result)
    rows = []
    for reproducer in reproducers:
        rows += [_row(result) for result in results[reproducer.id]]
        if not usable & reproducer.affected.keys():
            rows.append(_not_run(reproducer))
    return rows


def _table(rows: list[list[Text]], width: int) -> Table:
    """In a narrow terminal "seen" gives way; the other columns are what a reader scans for."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    fixed = 0
    for number, name in enumerate(COLUMNS[:-1]):
        column = max([len(name), *(row[number].cell_len for row in rows)])
        table.add_column(name, no_wrap=True, width=column)
        fixed += column + 2
    seen = max(20, width - fixed)
    table.add_column(COLUMNS[-1], no_wrap=True, overflow="ellipsis", max_width=seen)
    for row in rows:
        table.add_row(*row)
    return table


def _row(result: Result) -> list[Text]:
    verdict = Text(result.verdict, _style(result.verdict))
    if result.runs > 1:
        verdict.append(f" {result.agreeing}/{result.runs}", "dim")
    if result.surprise:
        verdict.append(" (!)", "bold red")
    popular_fix = Text("does not help", "yellow")
    if not result.popular_fix:
        popular_fix = Text("") if result.popular_fix is None else Text("helps (!)", "bold red")
    device = Text(result.device + ("*" if result.stand_in else ""))
    seen = Text(" ".join((result.text or result.detail).split()))
    return [Text(result.id), device, verdict, popular_fix, seen]


def _not_run(reproducer: Reproducer) -> list[Text]:
    needs = " or ".join(reproducer.affected)
    texts = (needs, f"needs {needs}", "", reproducer.title)
    return [Text(reproducer.id), *(Text(text, "dim") for text in texts)]


def _style(verdict: str) -> str:
    return TONES[BY_NAME[verdict].tone]


def _summary(console: Console, report: Report) -> None:
    build = report.build
    console.print(Text(f"torch {build['torch']}, Python {build['python']}, {build['os']}", "bold"))
    results = defaultdict(list)
    for result in report.results:
        results[result.device].append(result)
    for device, state in report.devices.items():
        console.print(_of_device(device, state, results[device]))
    if any(result.stand_in for result in report.results):
        note = "  *     run on a stand-in for the device; `torch-repros show ID` names it"
        console.print(Text(note, "dim"))
    unhelpful = sum(bool(result.popular_fix) for result in report.results)
    if unhelpful:
        console.print(Text(f"  popular fixes that were run and leave a symptom: {unhelpful}"))
    if not report.surprises:
        console.print(Text("All results match the headers.", "bold green"))
        return
    console.print(
        Text(f"Results that differ from their headers (!): {len(report.surprises)}", "bold red")
    )
    for result in report.surprises:
        console.print(Text(f"  {result.id} on {result.device}: {result.surprise}"), soft_wrap=True)


def _of_device(device: str, state: dict[str, Any], results: list[Result]) -> Text:
    if not state["ok"]:
        return Text(
            f"  {device:4}  {len(results)} not run: {unusable(device, state['reason'])}", "dim"
        )
    counts = Counter(result.verdict for result in results)
    parts = [f"{counts[row.name]} {row.name}" for row in ROWS if counts[row.name]]
    name = f"  ({state['name']})" if state.get("name") else ""
    return Text(f"  {device:4}  {', '.join(parts) or 'nothing was run'}{name}")
