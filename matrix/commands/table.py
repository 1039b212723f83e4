"""The output of `run`: a progress bar while reproducers run, then the results."""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..catalog import Reproducer
from ..devices import unusable
from ..explain import wrapping
from ..printing import printable_line
from ..run.runner import Report
from ..verdicts import ROWS, Result
from .options import say

COLUMNS = ("reproducer", "device", "verdict", "popular fix", "seen")
SEEN = 24  # minimum width of "seen"; if the terminal is narrower, each result takes several lines
TO_DO: dict[str, Any] = {
    "fg": "red",
    "bold": True,
}  # styles for click; expected results have no color


@contextmanager
def progress_bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on stderr, which is shown only in a terminal. A pipe gets only the table."""
    description = TextColumn("{task.description}", markup=False)  # a path may have brackets
    columns = (description, BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task(printable_line(title), total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def show(report: Report, reproducers: list[Reproducer], each: bool, families: bool) -> None:
    """Prints a line for `each` result in catalog order, counts per family, and a summary."""
    if each:
        _show_each(_rows(report, reproducers), wrapping.width(sys.stdout))
    if families:
        for line in _aligned(_families(report)):
            say(line)
        say("" if each else "`torch-repros run -v` shows each result.\n")
    _summary(report)


Row = tuple[list[str], dict[str, Any]]  # the cells, and a style for click


def _rows(report: Report, reproducers: list[Reproducer]) -> list[Row]:
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


def _row(result: Result) -> Row:
    verdict = result.verdict
    if result.runs > 1:
        verdict += f" {result.agreeing}/{result.runs}"
    if result.surprise:
        verdict += " (!)"
    popular_fix = "does not help"
    if not result.popular_fix:
        popular_fix = "" if result.popular_fix is None else "helps (!)"
    device = result.device + ("*" if result.stand_in else "")
    seen = " ".join((result.text or result.detail).split())
    return [result.id, device, verdict, popular_fix, seen], TO_DO if result.surprise else {}


def _not_run(reproducer: Reproducer) -> Row:
    needs = " or ".join(reproducer.affected)
    return [reproducer.id, needs, f"needs {needs}", "", reproducer.title], {"dim": True}


def _show_each(rows: list[Row], width: int | None) -> None:
    *lines, _ = zip(*(cells for cells, _ in rows)) if rows else ([],) * len(COLUMNS)
    names = _aligned([list(COLUMNS[:-1]), *(list(line) for line in zip(*lines))], padded=True)
    margin = len(names[0]) + 2
    if width is not None and margin + SEEN > width:
        for cells, style in rows:
            id, device, verdict, popular_fix, seen = cells
            say(id, **style)
            fix = f", the popular fix {popular_fix}" if popular_fix else ""
            say(f"  {device}: {verdict}{fix}", **style)
            if seen:
                say(f"    {seen}", **style)
    else:
        texts = [COLUMNS[-1], *(cells[-1] for cells, _ in rows)]
        styles = [{"bold": True}, *(style for _, style in rows)]
        for name, text, style in zip(names, texts, styles):
            line = f"{name}  {text}".rstrip()
            say(line if width is None else wrapping.hang(line, margin, width), **style)
    say("")


def _aligned(rows: list[list[str]], padded: bool = False) -> list[str]:
    """Formats the rows as lines with aligned columns. Numbers are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = [
        "  ".join(
            cell.rjust(width) if cell.isdecimal() else cell.ljust(width)
            for cell, width in zip(row, widths)
        )
        for row in rows
    ]
    return lines if padded else [line.rstrip() for line in lines]


def _families(report: Report) -> list[list[str]]:
    """Returns a heading row, and the counts per family on each device that works here."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for result in report.results:
        if report.devices[result.device]["ok"]:
            count = counts[result.id.split("/")[0], result.device]
            count[result.verdict] += 1
            count["differ (!)"] += bool(result.surprise)
    totals = sum(counts.values(), Counter())
    names = [name for name in (*(row.name for row in ROWS), "differ (!)") if totals[name]]
    lines = [
        [*key, *(str(count[name]).rjust(len(name)) if count[name] else "" for name in names)]
        for key, count in counts.items()
    ]
    return [["family", "device", *names], *lines]


def _summary(report: Report) -> None:
    build = report.build
    say(f"torch {build['torch']}, Python {build['python']}, {build['os']}", bold=True)
    results = defaultdict(list)
    for result in report.results:
        results[result.device].append(result)
    for device, state in report.devices.items():
        say(_of_device(device, state, results[device]))
    if any(result.stand_in for result in report.results):
        say("  *     run on a stand-in for the device; `torch-repros show ID` names it")
    unhelpful = sum(bool(result.popular_fix) for result in report.results)
    if unhelpful:
        say(f"  popular fixes that were run and leave a symptom: {unhelpful}")
    if not report.surprises:
        say("All results match the headers.")
        return
    say(f"Results that differ from their headers (!): {len(report.surprises)}", **TO_DO)
    for result in report.surprises:
        say(f"  {result.id} on {result.device}: {result.surprise}")


def _of_device(device: str, state: dict[str, Any], results: list[Result]) -> str:
    if not state["ok"]:
        return f"  {device:4}  {len(results)} not run: {unusable(device, state['reason'])}"
    counts = Counter(result.verdict for result in results)
    parts = [f"{counts[row.name]} {row.name}" for row in ROWS if counts[row.name]]
    name = f"  ({state['name']})" if state.get("name") else ""
    return f"  {device:4}  {', '.join(parts) or 'nothing was run'}{name}"
