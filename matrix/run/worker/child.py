"""Represents a run in the worker: a process with its own session and folder."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from .channel import Channel
from .role import DISK_FULL, FILE, finish
from .system import LINUX, SET_DUMPABLE, end_with_parent, exit_now, prctl

REPORT = 2**20  # maximum bytes that are read from a report
OUTPUT = 64 * 2**10  # bytes that are read from the end of a child's output
LINGER = 1.0  # seconds that a child's processes have to end after the child
NEARLY_FULL = 4 * 2**20  # a disk with less free space (in bytes) counts as full


class Child:
    """A run: a process with its own session and folder."""

    def __init__(
        self, job: dict[str, Any], folder: Path, fork: bool, startup: float, channel: Channel
    ) -> None:
        self.job, self.folder = job, folder
        self.output = folder / "output.txt"
        (folder / "cwd").mkdir(parents=True)
        self.started = time.perf_counter()
        self.begun = fork  # a forked child has torch from the start
        self.deadline = self.started + (job["timeout"] if fork else startup)
        self.timed_out = False
        self.code: int | None = None
        self.wall = 0.0
        self.process: subprocess.Popen[bytes] | None = None
        if fork:
            parent = os.getpid()
            self.pid = os.fork()
            if self.pid == 0:
                self._in_child(parent, channel)
        else:
            command = [
                sys.executable,
                str(Path(__file__).with_name("__main__.py")),
                "--one",
                json.dumps({**job, "parent": os.getpid()}),
                str(folder),
            ]
            with open(self.output, "wb") as output:
                self.process = subprocess.Popen(
                    command,
                    cwd=folder / "cwd",
                    env={**os.environ, **self._environment()},
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=output,
                    start_new_session=True,
                )
            self.pid = self.process.pid

    def _environment(self) -> dict[str, str]:
        """Variables that redirect temporary files to the child's folder, which is removed later."""
        names = ("TMPDIR", "TEMP", "TMP", "TORCHINDUCTOR_CACHE_DIR")
        return dict.fromkeys(names, str(self.folder))

    def _in_child(self, parent: int, channel: Channel) -> None:
        try:
            channel.abandon()
            end_with_parent(parent, signal.SIGKILL)
            prctl(SET_DUMPABLE, 1)  # /proc and core dumps work as in any process
            os.setsid()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.environ.update(self._environment())
            tempfile.tempdir = None  # the cached value is from the worker
            os.chdir(self.folder / "cwd")
            output = os.open(self.output, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.dup2(output, 1)
            os.dup2(output, 2)
            os.close(output)
            finish(self.job, str(self.folder))
        finally:
            exit_now(1)

    def poll(self) -> int | None:
        """The exit code (negative for a signal), or None while the child or its group runs."""
        now = time.perf_counter()
        if self.code is None:
            self._poll(now)
        if self.code is not None and (now - self.started > self.wall + LINGER or self._alone()):
            return self.code
        return None

    def _poll(self, now: float) -> None:
        if not self.begun and (self.folder / "begun").exists():
            self.begun, self.deadline = True, now + self.job["timeout"]
        if now > self.deadline:
            self.timed_out = True
            self._kill()  # at each poll until the child has ended
        if self.process is not None:
            self.code = self.process.poll()
        else:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid and not os.WIFSTOPPED(status):  # a traced child may be stopped
                self.code = os.waitstatus_to_exitcode(status)
        self.wall = now - self.started

    def _alone(self) -> bool:
        """True if the process group has ended. Processes without a parent become our children.

        When multiprocessing's resource tracker ends, it removes semaphores and shared memory.
        """
        if not LINUX:
            return True
        try:
            while os.waitpid(-self.pid, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return True
        return False

    def _kill(self) -> None:
        with contextlib.suppress(OSError):
            os.kill(self.pid, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)

    def kill(self) -> None:
        """Kills the child and its process group."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
        if self.code is None:  # a child that was stopped before its setsid() does not lead a group
            self._kill()

    def result(self, code: int) -> dict[str, Any]:
        """The outcome, with the time measured by the worker (`wall`) and the child (`seconds`)."""
        self.kill()  # a grandchild may still be running
        seen: dict[str, Any] = {"seconds": self.wall, "peak_mib": None}
        report = self._report()
        if self.timed_out and report is None:
            limit = self.job["timeout"] if self.begun else math.ceil(self.deadline - self.started)
            seen.update(outcome="timeout", detail=f"still running after {limit:g} s; killed")
        elif code < 0 and not self.timed_out:
            seen.update(outcome="signal", detail=f"killed by {self._signal(-code)}{self._tail()}")
        elif report is not None:
            seen = report
        else:
            seen.update(outcome="no report", detail=self._no_report(code))
        remove(self.folder)
        return {**seen, "wall": self.wall}

    def _report(self) -> dict[str, Any] | None:
        # The reproducer may have overwritten the file.
        with contextlib.suppress(OSError, ValueError, RecursionError):
            report = json.loads(_read(self.folder / "report.json", REPORT))
            json.dumps([report])  # raises an error if the report is nested too deeply
            return report if isinstance(report, dict) else None
        return None

    def _signal(self, number: int) -> str:
        with contextlib.suppress(ValueError):
            name = signal.Signals(number).name
            return f"{name}: a file grew beyond {FILE // 2**20} MiB" if name == "SIGXFSZ" else name
        return f"signal {number}"

    def _no_report(self, code: int) -> str:
        why = f"ended with exit code {code} and no report"
        scratch = self.folder.parent.parent
        if code == DISK_FULL or shutil.disk_usage(scratch).free < NEARLY_FULL:
            return f"{why}: the disk that holds {scratch} is full"
        return f"{why}{self._tail()}"

    def _tail(self) -> str:
        """The last frame or line that the child printed, which helps to locate a segfault."""
        try:
            text = _read(self.output, OUTPUT, from_end=True).decode(errors="replace")
        except OSError:
            return ""
        frame = re.search(r'File "([^"\n]{1,300})", line (\d{1,9}) in (\w{1,100})', text)
        if frame:
            return f" in {frame[3]} ({Path(frame[1]).name}:{frame[2]})"
        lines = text.strip().splitlines()
        return f": {lines[-1][:200]}" if lines else ""


def _read(path: Path, limit: int, from_end: bool = False) -> bytes:
    """Reads at most `limit` bytes. Does not follow links or wait for pipes left by a reproducer."""
    flags = (
        os.O_RDONLY
        | getattr(os, "O_NOFOLLOW", 0)
        | getattr(os, "O_NONBLOCK", 0)
        | getattr(os, "O_BINARY", 0)
    )
    descriptor = os.open(path, flags)
    with open(descriptor, "rb") as file:
        if from_end:
            file.seek(max(0, os.fstat(descriptor).st_size - limit))
        return file.read(limit)


def remove(folder: Path) -> None:
    """Removes the folder of a run, including subfolders of any depth and mode.

    In contrast, shutil.rmtree() recurses, opens a descriptor per level, and leaves unreadable
    folders behind.
    """
    with contextlib.suppress(OSError):
        if folder.is_symlink():
            folder.unlink()
        folder.chmod(0o700)
    waiting, moved = [str(folder)], 0
    while waiting:
        path = waiting.pop()
        with contextlib.suppress(OSError):
            for entry in list(os.scandir(path)):
                with contextlib.suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        os.chmod(entry.path, 0o700)  # otherwise, the folder cannot be moved
                        moved += 1
                        os.rename(entry.path, f"{folder}/{moved}.removed")
                        waiting.append(f"{folder}/{moved}.removed")
                    else:
                        os.unlink(entry.path)
            os.rmdir(path)
    with contextlib.suppress(OSError):
        folder.rmdir()
