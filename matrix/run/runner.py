"""Runs reproducers in an interpreter of the user's choice and judges what came back. Never imports torch."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from ..catalog import ROLES, Reproducer
from ..devices import unusable
from ..verdicts import Outcome, Result, judge

WORKER = Path(__file__).with_name("worker.py")

class RunnerError(Exception):
    """The interpreter under test cannot be used at all."""


@dataclass
class Report:
    build: dict[str, Any]
    devices: dict[str, dict[str, Any]]
    results: list[Result] = field(default_factory=list)

    @property
    def surprises(self) -> list[Result]:
        return [result for result in self.results if result.surprise]

    def to_json(self) -> dict[str, Any]:
        results = [{**asdict(result), "surprise": result.surprise} for result in self.results]
        return {"build": self.build, "devices": self.devices, "results": results}


class Worker:
    """The process that imports the torch under test: knows its build and devices, and runs jobs in children."""

    def __init__(self, python: str, devices: tuple[str, ...], jobs: int | None = None, fork: bool = True) -> None:
        self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
        self.python = python
        command = [python, str(WORKER), str(jobs or cores()), "fork" if fork else "fresh"]
        try:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, encoding="utf-8", start_new_session=True
            )
        except OSError as error:
            raise RunnerError(f"cannot start {python}: {error.strerror}") from None
        self.build: dict[str, Any] = self._receive()
        self._send(devices)
        self.devices: dict[str, dict[str, Any]] = {}
        for _ in devices:
            message = self._receive()
            self.devices[message.pop("device")] = message

    def run(self, jobs: list[dict[str, Any]]) -> Iterator[Outcome]:
        """The outcomes in the order in which the runs end; each names its job's "number"."""
        for job in jobs:
            self._send(job)
        assert self.process.stdin is not None
        self.process.stdin.close()
        for _ in jobs:
            yield self._receive()

    def _send(self, message: object) -> None:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self._fail()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self._fail()
        message: dict[str, Any] = json.loads(line)
        del message["event"]
        return message

    def _fail(self) -> None:
        self.process.wait()
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        why = lines[-1] if lines else f"exit code {self.process.returncode}"
        raise RunnerError(f"{self.python}: {why}")

    def close(self) -> None:
        self.process.terminate()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with contextlib.suppress(BrokenPipeError):
                stream.close()
        self.process.wait()
        self.log.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def cores() -> int:
    """The CPU cores this process may use, which in a container are fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    entries: list[Reproducer],
    worker: Worker,
    devices: tuple[str, ...],
    repeat: int = 1,
    timeout: float | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    on_result: Callable[[Result], None] = lambda result: None,
) -> Report:
    """Runs every role of every entry on every device that it names, `repeat` times.

    progress is told (runs done, runs in all); on_result gets each cell's result as soon as its last run has ended.
    """
    report = Report(worker.build, worker.devices)
    cells = [(entry, device) for entry in entries for device in devices if device in entry.affected]
    jobs: list[dict[str, Any]] = []
    waiting: list[int] = []  # runs that each cell still waits for
    results: list[Result | None] = [None] * len(cells)
    seen: list[dict[str, list[Outcome]]] = [{role: [] for role in ROLES} for _ in cells]

    def finish(cell: int) -> None:
        result = _judge(*cells[cell], worker, seen[cell])
        results[cell] = result
        on_result(result)

    for cell, (entry, device) in enumerate(cells):
        roles = () if _unavailable(entry, device, worker) else entry.roles
        waiting.append(len(roles) * repeat)
        for role in roles * repeat:
            limits = {"timeout": timeout or entry.timeout, "memory": entry.memory}
            jobs.append({"number": len(jobs), "cell": cell, "role": role, "device": device, "path": str(entry.path), **limits})
        if not roles:
            finish(cell)
    for done, outcome in enumerate(worker.run(jobs), 1):
        job = jobs[outcome["job"]]
        cell = job["cell"]
        seen[cell][job["role"]].append(outcome)
        waiting[cell] -= 1
        if not waiting[cell]:
            finish(cell)
        progress(done, len(jobs))
    report.results = [result for result in results if result is not None]
    return report


def _unavailable(entry: Reproducer, device: str, worker: Worker) -> str | None:
    if not worker.devices[device]["ok"]:
        return unusable(device, worker.devices[device]["reason"])
    return entry.unavailable_reason(worker.build["torch"], worker.build["platform"])


def _judge(entry: Reproducer, device: str, worker: Worker, roles: dict[str, list[Outcome]]) -> Result:
    expected = entry.expects(device, worker.build["torch"])
    result = Result(entry.id, device, "unavailable", expected, stand_in=entry.stand_in.get(device, ""))
    if reason := _unavailable(entry, device, worker):
        result.detail = reason
    else:
        judge(entry, result, roles)
    return result
