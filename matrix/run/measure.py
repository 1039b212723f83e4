"""Measures cells and keeps what was seen, reproducer by reproducer, so that a killed run goes on where it stopped."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path

from ..catalog import Reproducer
from ..evidence import records
from . import runner


def today() -> str:
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def lacking(entries: list[Reproducer], device: str, have: dict[str, records.Measurement], repeat: int, again: bool) -> list[Reproducer]:
    """Those never recorded, changed since, or run less than `repeat` times; all that concern the device with `again`."""

    def lacks(entry: Reproducer) -> bool:
        old = have.get(entry.id)
        return again or old is None or old.is_stale(entry) or (old.runs < repeat and old.verdict != "unavailable")

    return [entry for entry in entries if device in entry.affected and lacks(entry)]


def record(
    entries: list[Reproducer],
    worker: runner.Worker,
    device: str,
    folder: Path,
    repeat: int,
    who: str | None,
    again: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[records.Record, list[runner.Result]]:
    """Runs what this cell lacks and saves it after every reproducer. Returns the cell and the results of this call."""
    state = worker.devices[device]
    hardware = {key: value for key, value in state.items() if key not in ("ok", "reason")}
    build = {key: value for key, value in worker.build.items() if key != "fork"}
    cell = records.Record(device, build, hardware, who or "user")
    path = folder / cell.name
    if path.exists():
        old = records.read(path)
        cell.measurements, cell.who = old.measurements, who or old.who
    by_id = {entry.id: entry for entry in entries}

    def keep(result: runner.Result) -> None:
        cell.measurements[result.id] = records.Measurement.of(result, by_id[result.id], today())
        cell.save(folder)

    wanted = lacking(entries, device, cell.measurements, repeat, again)
    report = runner.run(wanted, worker, (device,), repeat, progress=progress, on_result=keep)
    return cell, report.results
