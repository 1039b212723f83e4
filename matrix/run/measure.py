"""Measures reproducers, and saves each result immediately so that a killed run can be resumed."""

from __future__ import annotations

import datetime
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from packaging.version import Version

from ..catalog import Reproducer
from ..devices import unusable
from ..evidence import records, schema, store
from ..evidence.schema import Measurement, Record, RecordsError, Source
from ..printing import printable
from ..verdicts import BY_NAME, Result
from . import runner


def today() -> str:
    return datetime.datetime.now(datetime.timezone.utc).date().isoformat()


def is_enough(measurement: Measurement | None, reproducer: Reproducer, repeat: int) -> bool:
    """True if the measurement is of the current code and, if the code was run, has enough runs."""
    if measurement is None or measurement.is_stale(reproducer):
        return False
    return measurement.runs >= repeat or not BY_NAME[measurement.verdict].ran


def lacking(
    reproducers: list[Reproducer],
    device: str,
    have: dict[str, Measurement],
    repeat: int,
    again: bool,
) -> list[Reproducer]:
    """The reproducers that still have to be measured on this device (all, with `again`)."""
    return [
        reproducer
        for reproducer in reproducers
        if device in reproducer.affected
        and (again or not is_enough(have.get(reproducer.id), reproducer, repeat))
    ]


def measured_here(
    reproducer: Reproducer, device: str, measured: list[Record]
) -> Iterator[tuple[Record, Measurement]]:
    """Yields the measurements of the current code on this kind of machine, oldest torch first."""
    for record, measurement in records.fresh(measured, reproducer, device):
        if (record.platform, record.machine) == (sys.platform, platform.machine()):
            yield record, measurement


def describe(
    build: dict[str, Any], state: dict[str, Any], device: str, kind: str, command: str
) -> tuple[Record, Source]:
    """Returns an empty record for measurements of this build and device, and their source."""
    from .. import __version__

    hardware = {
        key: printable(value) if isinstance(value, str) else value
        for key, value in state.items()
        if key not in ("ok", "reason")
    }
    record = Record(
        device=device,
        torch=build["torch"],
        platform=build["platform"],
        machine=build["machine"],
        gpu="" if device == "cpu" else hardware.get("name") or "unknown",
        virtual=bool(hardware.get("paravirtual")),
        system=build["os"] if build["platform"] == "darwin" else "",
    )
    return record, Source(
        kind=kind,
        harness=__version__,
        command=command,
        build={key: build[key] for key in schema.BUILD},
        hardware=hardware,
    )


def record(
    reproducers: list[Reproducer],
    python: str,
    device: str,
    folder: Path,
    repeat: int,
    kind: str,
    command: str,
    again: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    release: str = "",
) -> tuple[Record, list[Result]]:
    """Measures everything that is missing in this interpreter's record. Returns the record and the
    new results.

    Raises RunnerError if the interpreter or the device cannot be used, or if its torch is not the
    expected release. Raises RecordsError if the record cannot be read.
    """
    by_id = {reproducer.id: reproducer for reproducer in reproducers}
    with runner.Worker(python, (device,)) as worker:
        version = worker.build["torch"]
        if release and Version(version).public != release:
            raise runner.RunnerError(f"its environment has torch {version}, not {release}")
        state = worker.devices[device]
        if not state["ok"]:
            raise runner.RunnerError(unusable(device, state["reason"]))
        empty, source = describe(worker.build, state, device, kind, command)

        def keep(result: Result) -> None:
            measurement = Measurement.of(result, by_id[result.id], source, today())
            store.append(replace(empty, measurements={result.id: measurement}), folder)

        have = _saved(empty, folder).measurements
        wanted = lacking(reproducers, device, have, repeat, again)
        try:
            report = runner.run(
                wanted, worker, (device,), repeat, progress=progress, on_result=keep
            )
        finally:
            store.save(empty, folder)
    return _saved(empty, folder), report.results


def _saved(empty: Record, folder: Path) -> Record:
    """The record in the folder, including measurements that a killed run left in the journal."""
    saved, problems = records.read(store.save(empty, folder))
    if problems:
        raise RecordsError("\n".join(problems))
    return saved or empty
