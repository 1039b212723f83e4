"""Runs reproducers in an interpreter that the user chooses, and judges the outcomes.

This module never imports torch.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import secrets
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

from ..catalog import ROLES, Reproducer
from ..devices import BY_NAME, unusable
from ..verdicts import Outcome, Result, checked, judge
from . import processes
from .worker.child import remove

WORKER = Path(__file__).with_name("worker") / "__main__.py"
STARTUP = 120.0  # seconds that an interpreter has to import torch, unless the variable is set
STARTUP_VARIABLE = "TORCH_REPROS_STARTUP"
PROBE = {"timeout": 120.0, "memory": 4096}  # limits for a probe, in seconds and MiB
GRACE = 30.0  # seconds after a run's time limit before a silent worker is considered dead
CLOSING = 10.0  # seconds that a worker has to end its children
PROCESSES = 16  # maximum number, each with its own torch; additional repeats share them
DEATHS = 5  # consecutive worker deaths that are tolerated if no run completes
FOREIGN = 64 * 2**10  # bytes that an interpreter may print before the worker's first message
LINE = 4 * 2**20  # maximum bytes of a line; the worker never writes longer lines
LOG = 64 * 2**10  # bytes of the worker's stderr that are read


class RunnerError(Exception):
    """The interpreter under test cannot be used."""


def startup() -> float:
    """The seconds that an interpreter has to import torch. A network disk may need minutes."""
    wanted = os.environ.get(STARTUP_VARIABLE) or STARTUP
    with contextlib.suppress(ValueError):
        if 0 < float(wanted) < 1e6:
            return float(wanted)
    raise RunnerError(f"{STARTUP_VARIABLE}: expected seconds such as 600, found {wanted!r}")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed during a run. `report` has the results so far, out of `total`."""

    def __init__(self, report: Report, total: int) -> None:
        self.report, self.total = report, total
        super().__init__(f"{total - len(report.results)} of {total} not run")


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


class Process:
    """A worker process. Its messages arrive in `inbox` as (process, message). The last message is
    None.

    A thread reads the pipe, because Windows cannot wait for several pipes at once. Lines without
    the token are not messages, because an interpreter may print text at startup, and a reproducer
    may find the pipe.
    """

    def __init__(self, python: str, fork: bool, seed: int, inbox: queue.Queue[Any]) -> None:
        self.python, self.seed, self.inbox = python, seed, inbox
        self.startup = startup()
        self.token = secrets.token_hex(16)
        self.foreign = b""
        self.ready = False
        self.started: queue.Queue[dict[str, Any] | None] = queue.Queue()
        try:
            # The worker creates and removes this folder. Its name cannot be guessed in advance.
            self.scratch = Path(tempfile.gettempdir()).absolute() / f"repro-{secrets.token_hex(4)}"
            # Importing torch creates this folder.
            caches = {"TORCHINDUCTOR_CACHE_DIR": str(self.scratch / "inductor")}
            self.log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by close()
            self.popen = subprocess.Popen(
                [python, str(WORKER), "fork" if fork else "fresh"],
                env={**os.environ, "PYTHONHASHSEED": str(seed), **caches},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.log,
                start_new_session=True,
            )
        except OSError as error:
            raise RunnerError(f"cannot start {python}: {error.strerror}") from None
        threading.Thread(target=self._read, daemon=True).start()
        self.send({"token": self.token, "scratch": str(self.scratch), "startup": self.startup})

    def build(self) -> dict[str, Any]:
        """The imported build. Raises RunnerError if the import takes longer than startup()."""
        try:
            message = self.started.get(timeout=self.startup)
        except queue.Empty:
            raise RunnerError(
                f"{self.python}: importing torch took longer than {self.startup:g} s; "
                f"{STARTUP_VARIABLE}=600 allows 600"
            ) from None
        if message is None:
            words = self.last_words()
            if "No module named 'torch'" in words:
                words += "; with --python PATH, name an interpreter that has torch"
            raise RunnerError(f"{self.python}: {words}")
        self.ready = True
        return {key: value for key, value in message.items() if key not in ("event", "token")}

    def send(self, request: dict[str, Any]) -> None:
        """Sends a request. If the process has died, the inbox receives None."""
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):
            self.popen.stdin.write(json.dumps(request).encode() + b"\n")
            self.popen.stdin.flush()

    def _read(self) -> None:
        assert self.popen.stdout is not None
        inbox: Callable[[dict[str, Any] | None], None] = self.started.put
        rest = b""
        while chunk := os.read(self.popen.stdout.fileno(), 2**16):
            *lines, rest = (rest + chunk).split(b"\n")
            if len(rest) > LINE:
                rest = b""
            for message in map(self._message, lines):
                if message:
                    inbox(message)
                    inbox = self._put
            if inbox == self.started.put and len(self.foreign) + len(rest) > FOREIGN:
                break
        self.popen.stdout.close()
        inbox(None)

    def _put(self, message: dict[str, Any] | None) -> None:
        self.inbox.put((self, message))

    def _message(self, line: bytes) -> dict[str, Any] | None:
        with contextlib.suppress(ValueError, RecursionError):
            message = json.loads(line) if self.token.encode() in line else None
            if (
                isinstance(message, dict)
                and message.get("token") == self.token
                and "event" in message
            ):
                return message
        if len(self.foreign) <= FOREIGN:
            self.foreign += line + b"\n"
        return None

    def last_words(self) -> str:
        """The reason why this process is not a worker, or no longer is."""
        if len(self.foreign) > FOREIGN:
            return f"printed more than {FOREIGN // 2**10} kB; expected a Python interpreter"
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(1)
        self.log.seek(max(0, self.log.seek(0, os.SEEK_END) - LOG))
        lines = self.log.read().decode(errors="replace").strip().splitlines()
        why = lines[-1][:500] if lines else f"exit code {self.popen.returncode}"
        files = [line for line in lines if line.lstrip().startswith('File "')]
        if why.startswith("SyntaxError: ") and files and str(WORKER.parent) in files[-1]:
            return "needs Python 3.8 or newer"
        if not self.ready and self.foreign:
            printed = self.foreign[:80].decode(errors="replace")
            why += f", after it printed {printed!r}; expected a Python interpreter"
        return why

    def kill(self) -> None:
        """Kills the interpreter and, if a script started it, the script's other processes."""
        processes.kill(self.popen)

    def close(self) -> None:
        """Ends the worker, which ends its children."""
        assert self.popen.stdin is not None
        with contextlib.suppress(OSError):
            self.popen.stdin.close()  # tells the worker to end
        if self.ready:  # otherwise, it may be stuck importing torch, but has no children yet
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.popen.wait(CLOSING)
        self.kill()
        self.popen.wait()
        self.log.close()
        remove(self.scratch)


class Worker:
    """The tested interpreter: its build, its devices, and one worker process per repeat.

    Each process has its own hash seed, address layout and import of torch. Forks of a single
    process would share all three, which might be the only reason why they agree. An import takes
    about 3 s of CPU time.

    Start a Worker in a thread that outlives it, because on Linux, the processes end with the
    thread.
    """

    def __init__(
        self, python: str, devices: tuple[str, ...], jobs: int | None = None, fork: bool = True
    ) -> None:
        self.python, self.slots, self.fork = python, jobs or cores(), fork
        self.inbox: queue.Queue[tuple[Process, dict[str, Any] | None]] = queue.Queue()
        self.processes: list[Process] = []
        self.numbers = itertools.count(1)
        self.devices: dict[str, dict[str, Any]] = {}
        try:
            self.grow(1)
            self.build = self.processes[0].build()
            for device in devices:
                self.devices[device] = self._probe(device)
        except BaseException:
            self.close()
            raise

    def grow(self, repeat: int) -> None:
        """Starts one process per repeat, up to PROCESSES. They import torch in parallel."""
        first = len(self.processes)
        for seed in range(first + 1, min(repeat, PROCESSES) + 1):
            self.processes.append(Process(self.python, self.fork, seed, self.inbox))
        for process in self.processes[max(1, first) :]:
            process.build()

    def replace(self, dead: Process) -> None:
        """Replaces a dead process with a new process."""
        place = self.processes.index(dead)
        dead.kill()
        dead.close()
        self.processes[place] = Process(self.python, self.fork, dead.seed, self.inbox)
        self.processes[place].build()

    def start(self, place: int, job: dict[str, Any]) -> tuple[Process, int]:
        """Starts a job in the process at `place`. Returns the process and the result's number."""
        process, number = self.processes[place], next(self.numbers)
        process.send({**job, "job": number})
        return process, number

    def receive(self, deadline: float) -> tuple[Process, dict[str, Any] | None] | None:
        """The next message, or None if no message arrives by the deadline."""
        try:
            return self.inbox.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return None

    def _probe(self, device: str) -> dict[str, Any]:
        request = {
            "role": "probe",
            "device": device,
            "facts": BY_NAME[device].facts,
            "path": "",
            **PROBE,
        }
        _, number = self.start(0, request)
        deadline = time.monotonic() + PROBE["timeout"] + startup() + GRACE
        while answer := self.receive(deadline):
            process, message = answer
            if message is None:
                why = f"the worker died while probing {device}: {process.last_words()}"
                raise RunnerError(f"{self.python}: {why}")
            if message.get("job") == number:
                state = message.get("value")
                if isinstance(state, dict) and "ok" in state:
                    return state
                return {"ok": False, "reason": str(message.get("detail")), "name": None}
        raise RunnerError(f"{self.python}: no answer while probing {device}")

    def close(self) -> None:
        for process in self.processes:
            process.close()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def cores() -> int:
    """The CPU cores available to this process. In a container, the machine may have more."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass
class Pending:
    """A reproducer, a device, and the outcomes of the runs so far."""

    reproducer: Reproducer
    device: str
    unavailable: str | None
    waiting: int = 0  # unfinished runs
    outcomes: dict[str, list[Outcome]] = field(default_factory=lambda: {role: [] for role in ROLES})
    result: Result | None = None

    def judge(self, torch_version: str) -> Result:
        expected = self.reproducer.expects(self.device, torch_version)
        stand_in = self.reproducer.stand_in.get(self.device, "")
        self.result = Result(
            self.reproducer.id, self.device, "unavailable", expected, stand_in=stand_in
        )
        if self.unavailable:
            self.result.detail = self.unavailable
        else:
            judge(self.reproducer, self.result, self.outcomes)
        return self.result


@dataclass
class Job:
    """One run of one role."""

    pending: Pending
    role: str
    place: int  # index of the process that runs the job
    request: dict[str, Any]
    process: Process | None = None
    deadline: float = 0.0


class Schedule:
    """Keeps all slots busy with jobs, and continues if a process dies."""

    def __init__(self, worker: Worker, jobs: list[Job]) -> None:
        self.worker = worker
        self.waiting = deque(jobs)
        # Any of these jobs may have killed the worker, so each of them is run again, alone.
        self.suspects: deque[Job] = deque()
        self.running: dict[int, Job] = {}
        self.deaths = 0  # deaths since the last result

    def outcomes(self) -> Iterator[tuple[Job, Outcome]]:
        while self.waiting or self.suspects or self.running:
            self._fill()
            answer = self.worker.receive(min(job.deadline for job in self.running.values()))
            if answer is None:
                self._kill_overdue()
                continue
            process, message = answer
            if message is None:
                yield from self._died(process)
            elif (job := self.running.get(message.get("job", 0))) and job.process is process:
                del self.running[message["job"]]
                self.deaths = 0
                yield job, checked(message)

    def _fill(self) -> None:
        if self.suspects:
            if not self.running:
                self._start(self.suspects.popleft())
            return
        while self.waiting and len(self.running) < self.worker.slots:
            self._start(self.waiting.popleft())

    def _start(self, job: Job) -> None:
        job.process, number = self.worker.start(job.place, job.request)
        # on other devices, the worker may need a fresh interpreter even if it was told to fork
        forks = self.worker.fork and job.request["device"] == "cpu"
        limit = job.request["timeout"] + (0 if forks else startup())
        job.deadline = time.monotonic() + limit + GRACE
        self.running[number] = job

    def _kill_overdue(self) -> None:
        for job in self.running.values():
            if job.process is not None and job.deadline <= time.monotonic():
                job.process.kill()  # the process is stopped or stuck; its last message will follow
                job.deadline += GRACE

    def _died(self, process: Process) -> Iterator[tuple[Job, Outcome]]:
        if process not in self.worker.processes:
            return  # the process has been replaced
        lost = [number for number, job in self.running.items() if job.process is process]
        jobs = [self.running.pop(number) for number in lost]
        self.deaths += 1
        if self.deaths > DEATHS:
            ran = " and ".join(f"{job.role}() of {job.pending.reproducer.id}" for job in jobs)
            raise RunnerError(
                f"{self.worker.python}: {self.deaths} workers died one after another, "
                f"the last one while running {ran or 'nothing'}"
            )
        self.worker.replace(process)
        if len(jobs) == 1:
            yield jobs[0], checked({"outcome": "died"})
        else:
            self.suspects.extend(jobs)


def run(
    reproducers: list[Reproducer],
    worker: Worker,
    devices: tuple[str, ...],
    repeat: int = 1,
    timeout: float | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
    on_result: Callable[[Result], None] = lambda result: None,
) -> Report:
    """Runs every role of every reproducer `repeat` times on each device that its header names.

    Each repeat has its own process and import of torch, which takes about 3 s of CPU time.
    `progress` receives (completed runs, all runs). `on_result` receives each result as soon as its
    last run has ended. Raises Interrupted on Ctrl-C.
    """
    report = Report(worker.build, worker.devices)
    pending = [
        Pending(reproducer, device, _unavailable(reproducer, device, worker))
        for reproducer in reproducers
        for device in devices
        if device in reproducer.affected
    ]
    version = worker.build["torch"]
    jobs = [
        job
        for cell in pending
        if not cell.unavailable
        for job in _jobs(cell, repeat, timeout, version)
    ]
    try:
        for cell in pending:
            if cell.unavailable:
                on_result(cell.judge(version))
        if jobs:
            worker.grow(repeat)
        for done, (job, outcome) in enumerate(Schedule(worker, jobs).outcomes(), 1):
            cell = job.pending
            cell.outcomes[job.role].append(outcome)
            cell.waiting -= 1
            if not cell.waiting:
                on_result(cell.judge(version))
            progress(done, len(jobs))
    except KeyboardInterrupt:
        report.results = [cell.result for cell in pending if cell.result]
        raise Interrupted(report, len(pending)) from None
    report.results = [cell.result for cell in pending if cell.result]
    return report


def _jobs(pending: Pending, repeat: int, timeout: float | None, torch_version: str) -> list[Job]:
    reproducer = pending.reproducer
    request = {
        "device": pending.device,
        "path": str(reproducer.path),
        "timeout": timeout or reproducer.timeout,
        "memory": reproducer.memory,
    }
    roles = [role for role in reproducer.roles if reproducer.runs(role, torch_version)]
    rounds = itertools.product(range(repeat), roles)
    jobs = [
        Job(pending, role, number % PROCESSES, {**request, "role": role}) for number, role in rounds
    ]
    pending.waiting = len(jobs)
    return jobs


def _unavailable(reproducer: Reproducer, device: str, worker: Worker) -> str | None:
    state = worker.devices[device]
    if not state["ok"]:
        return unusable(device, state["reason"])
    build = worker.build
    return reproducer.unavailable_reason(build["torch"], build["platform"], device)
