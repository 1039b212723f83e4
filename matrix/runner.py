"""Runs reproducers in an interpreter of the user's choice and judges what came back. Never imports torch."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from matrix.catalog import ROLES, Reproducer

WORKER = Path(__file__).with_name("worker.py")

Outcome = dict[str, Any]  # what one run of one role did; see worker.run_job and worker.Child.result


class RunnerError(Exception):
    """The interpreter under test cannot be used at all."""


@dataclass
class Result:
    """One cell: one reproducer on one device of one torch."""

    id: str
    device: str
    verdict: str  # reproduced | absent | unavailable | broken | flaky
    expected: str  # reproduced | absent
    detail: str = ""  # why, for every verdict but reproduced and absent
    text: str = ""  # what reproduce() saw
    popular_fix: str | None = None  # the symptom that it leaves, "" when it leaves none, None when it was not run
    runs: int = 0
    agreeing: int = 0  # runs that gave this verdict
    seconds: float = 0.0  # median of reproduce() alone
    overhead: float = 0.0  # median of what the machine adds to one run
    peak_mib: float = 0.0
    stand_in: str = ""

    @property
    def surprise(self) -> str:
        """What makes this cell red, or nothing: a difference from the header in either direction."""
        if self.verdict == "unavailable":
            return ""
        if self.verdict != self.expected:
            return f"{self.verdict}, but its header says {self.expected}" + (f": {self.detail}" if self.detail else "")
        if self.verdict == "reproduced" and self.popular_fix == "":
            return "popular_fix leaves no symptom: it helps here, so it may not be listed as a fix that does not"
        return f"popular_fix: {self.detail}" if self.detail else ""


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

    def judge(cell: int) -> None:
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
            judge(cell)
    for done, outcome in enumerate(worker.run(jobs), 1):
        job = jobs[outcome["job"]]
        cell = job["cell"]
        seen[cell][job["role"]].append(outcome)
        waiting[cell] -= 1
        if not waiting[cell]:
            judge(cell)
        progress(done, len(jobs))
    report.results = [result for result in results if result is not None]
    return report


def _unavailable(entry: Reproducer, device: str, worker: Worker) -> str | None:
    if not worker.devices[device]["ok"]:
        return f"no usable {device} here: {worker.devices[device]['reason']}"
    return entry.unavailable_reason(worker.build["torch"], worker.build["platform"])


def _judge(entry: Reproducer, device: str, worker: Worker, roles: dict[str, list[Outcome]]) -> Result:
    result = Result(entry.id, device, "unavailable", entry.expects(device, worker.build["torch"]), stand_in=entry.stand_in.get(device, ""))
    if reason := _unavailable(entry, device, worker):
        result.detail = reason
        return result
    verdicts = [verdict(entry, *pair) for pair in zip(roles["reproduce"], roles["control"])]
    names = [name for name, _, _ in verdicts]
    commonest = max(names, key=names.count)
    result.runs, result.agreeing = len(names), names.count(commonest)
    result.verdict = commonest if result.agreeing == result.runs else "flaky"
    _, result.text, result.detail = verdicts[names.index(commonest)]
    if result.verdict == "flaky":
        others = "; ".join(sorted({f"{name} ({detail})" if detail else name for name, _, detail in verdicts if name != commonest}))
        result.detail = f"{commonest} {result.agreeing} of {result.runs}, else {others}"
    if roles["popular_fix"] and result.verdict == "reproduced":
        result.popular_fix, result.detail = _judge_popular_fix(roles["popular_fix"])
    own = sorted(outcome["seconds"] for outcome in roles["reproduce"])
    every = sorted(outcome["wall"] - outcome["seconds"] for outcomes in roles.values() for outcome in outcomes)
    result.seconds, result.overhead = own[len(own) // 2], every[len(every) // 2]
    result.peak_mib = max(outcome["peak_mib"] or 0.0 for outcome in roles["reproduce"])
    return result


def verdict(entry: Reproducer, reproduce: Outcome, control: Outcome) -> tuple[str, str, str]:
    """(verdict, text seen, detail) of one run of reproduce() and one of control()."""
    text = reproduce.get("value")
    if (entry.kind, reproduce["outcome"]) in (("crash", "signal"), ("hang", "timeout")):
        text = reproduce["detail"]  # the death that it claims is its symptom
    elif reproduce["outcome"] != "returned":
        return "broken", "", f"reproduce() {_what(reproduce)}"
    if control["outcome"] != "returned":
        return "broken", text or "", f"control() {_what(control)}"
    if control["value"] is not None:
        return "broken", text or "", f"control() shows a symptom too: {control['value']}"
    if text is None:
        return "absent", "", ""
    if not re.search(entry.symptom, text):
        return "broken", text, f"the text seen does not match its symptom {entry.symptom!r}: {text}"
    return "reproduced", text, ""


def _judge_popular_fix(outcomes: list[Outcome]) -> tuple[str | None, str]:
    """(the symptom left by the runs, what is wrong with them)."""
    for outcome in outcomes:
        if outcome["outcome"] != "returned":
            return None, _what(outcome)
        if outcome["value"] is None:
            return "", ""
    return outcomes[0]["value"], ""


def _what(outcome: Outcome) -> str:
    verb = {"raised": "raised ", "timeout": "is ", "signal": "was "}.get(outcome["outcome"], "")
    return f"{verb}{outcome['detail']}"
