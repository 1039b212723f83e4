"""Runs many programs, each in its own forked process, so that torch is imported only once.

When run as a script, this file imports nothing from the project, so any interpreter with torch
can run it.
"""

from __future__ import annotations

import contextlib
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass
from types import FrameType
from typing import IO, Any

TOP = ("<module>", "_run")  # the callers of roles: the file itself, or _run()


@dataclass
class Job:
    """A program with its arguments, or one function of its file."""

    argv: list[str]  # the file, then the arguments
    folder: str  # the working directory
    seconds: float  # the time limit; a signal ends the program half a minute later
    function: str = ""  # called with the arguments; "" runs the file as a program
    lines: str = ""  # a file to which "ROLE LINE" is written for each line that ran
    group: str = ""  # after the first failure in a group, the other jobs are skipped: status 0


def can_fork(device: str) -> bool:
    """True if a forked child can use torch on the device. Metal and Windows do not allow this."""
    return sys.platform == "linux" or (hasattr(os, "fork") and device == "cpu")


def run_all(jobs: list[Job]) -> tuple[str, list[tuple[int, str]]]:
    """The version of torch, and each job's exit status (negative: a signal) and output."""
    from matrix.run import runner

    at_once = max(1, runner.cores() // 2)  # the other half runs other tests
    server = _server()
    assert server.stdin
    assert server.stdout
    try:
        server.stdin.write(json.dumps([at_once, [asdict(job) for job in jobs]]) + "\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline() or "{}")
    except BaseException:  # the next call would read the answer to this one
        server.terminate()
        server.wait()
        raise
    if not answer:
        raise RuntimeError(f"the server of forked processes ended with {server.wait()}")
    return answer["torch"], [(status, output) for status, output in answer["ended"]]


_servers: list[subprocess.Popen[str]] = []


def _server() -> subprocess.Popen[str]:
    """The process that forks, which starts once per process of the tests and then waits for jobs.

    It ends when its standard input is closed, as happens at the end of the tests. If the tests are
    killed or interrupted, it starts no more programs and ends those that run.
    """
    if not _servers or _servers[-1].poll() is not None:
        pipe = subprocess.PIPE
        command = [sys.executable, __file__]
        _servers.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True))
    return _servers[-1]


def _trace(path: str, lines: str) -> None:
    """Writes "ROLE LINE" to `lines` whenever a line of the file at `path` runs, in any thread.

    The role is the last function that the module or _run() called; "" before any call.
    """
    file, seen, role = os.open(lines, os.O_CREAT | os.O_APPEND | os.O_WRONLY), set(), ""

    def line(frame: FrameType, event: str, argument: Any) -> Callable[..., Any]:
        if (role, frame.f_lineno) not in seen:
            seen.add((role, frame.f_lineno))
            os.write(file, f"{role} {frame.f_lineno}\n".encode())
        return line

    def call(frame: FrameType, event: str, argument: Any) -> Callable[..., Any] | None:
        nonlocal role
        if frame.f_code.co_filename != path:
            return None
        caller = frame.f_back.f_code if frame.f_back else None
        if caller and caller.co_filename in (path, __file__) and caller.co_name in TOP:
            role = frame.f_code.co_name
        return line

    threading.settrace(call)
    sys.settrace(call)


def _run(job: Job, output: IO[bytes], answers: int) -> None:
    """Runs the job in the forked child, and ends the child."""
    code = 1  # the status if the program raises
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.close(answers)  # a process left behind would keep the pipe open after the server's end
        signal.alarm(int(job.seconds) + 30)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(output.fileno(), 1)
        os.dup2(output.fileno(), 2)
        sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # as in a terminal, because a crash does not flush
        os.chdir(job.folder)
        sys.argv[:] = job.argv
        if job.lines:
            _trace(job.argv[0], job.lines)
        if job.function:
            runpy.run_path(job.argv[0])[job.function](*job.argv[1:])
        else:
            runpy.run_path(job.argv[0], run_name="__main__")
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
        if isinstance(ended.code, str):
            _flush()
            print(ended.code, file=sys.stderr)
    except BaseException:
        _flush()
        traceback.print_exc()
    finally:
        _flush()
        os._exit(code & 255)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):  # the program may have closed or replaced it
            stream.flush()


def _main() -> None:
    import torch

    with contextlib.suppress(ImportError):
        import torch._dynamo

    torch.set_num_threads(1)
    answers = os.dup(1)
    os.dup2(2, 1)  # no other output may get between the answers
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    for line in sys.stdin:
        at_once, jobs = json.loads(line)
        ended = _run_jobs([Job(**fields) for fields in jobs], at_once, answers)
        answer = json.dumps({"torch": torch.__version__, "ended": ended})
        with os.fdopen(os.dup(answers), "w") as file:
            file.write(f"{answer}\n")


def _leave(*_: object) -> None:
    """Ends the server. A second signal must not interrupt the end of the programs."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    sys.exit(1)


def _run_jobs(jobs: list[Job], at_once: int, answers: int) -> list[tuple[int, str] | None]:
    running: dict[int, tuple[int, IO[bytes]]] = {}  # process -> number and output of its job
    try:
        return _ended(jobs, at_once, answers, running)
    finally:
        for pid in running:  # after a signal
            _kill(pid)
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, signal.SIGKILL)  # it has no group before its setsid()


def _kill(pid: int) -> None:
    """Kills the process and the processes that it started. macOS refuses to kill a zombie."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def _ended(
    jobs: list[Job], at_once: int, answers: int, running: dict[int, tuple[int, IO[bytes]]]
) -> list[tuple[int, str] | None]:
    caller = os.getppid()
    ended: list[tuple[int, str] | None] = [None] * len(jobs)
    waiting = list(enumerate(jobs))[::-1]
    failed: set[str] = set()  # groups
    while waiting or running:
        while waiting and len(running) < at_once:
            number, job = waiting.pop()
            if job.group in failed:
                ended[number] = 0, "not run"
                continue
            output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed below
            if (pid := os.fork()) == 0:
                _run(job, output, answers)
            running[pid] = number, output
        if not running:  # all waiting jobs were skipped
            break
        pid, status = os.wait()
        _kill(pid)
        if os.getppid() != caller:  # nobody reads the answer
            sys.exit(1)
        number, output = running.pop(pid)
        with output:
            output.seek(0)
            text = output.read().decode(errors="replace")
        ended[number] = os.waitstatus_to_exitcode(status), text
        if status and jobs[number].group:
            failed.add(jobs[number].group)
    return ended


if __name__ == "__main__":
    _main()
