"""The worker's main loop, which starts the requested runs and reports their outcomes."""

from __future__ import annotations

import contextlib
import errno
import functools
import gc
import math
import os
import signal
import sys
import traceback
from pathlib import Path
from typing import Any

from .build import describe
from .channel import Channel
from .child import Child, remove
from .orphans import Orphans
from .system import SET_CHILD_SUBREAPER, SET_DUMPABLE, end_with_parent, exit_now, prctl

POLL = 0.001  # seconds between polls of the children


def cuda_is_lost_in_a_fork() -> bool:
    """True if CUDA cannot start in a child because importing torch has queried the devices.

    If NVML does not answer, torch 2.3 queries CUDA itself.
    """
    import torch

    lost = getattr(getattr(torch, "cuda", None), "_is_in_bad_fork", bool)
    if (pid := os.fork()) == 0:
        exit_now(int(lost()))
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0


class Server:
    """Starts the requested runs and reports their outcomes until the runner is gone."""

    def __init__(self, fork: bool, runner: int) -> None:
        self.fork, self.runner = fork, runner
        self.channel = Channel(threaded=not fork)
        hello = self.channel.hello
        self.scratch, self.startup = Path(hello["scratch"]), hello["startup"]
        self.running: list[Child] = []
        self.orphans = Orphans()

    def start(self) -> None:
        """Imports torch and reports the build."""
        import torch

        # Must be set before any operation, because forked children of a multithreaded parent hang.
        torch.set_num_threads(1)
        with contextlib.suppress(ImportError):
            import torch._dynamo

        import torch.utils.data

        gc.collect()
        gc.freeze()  # a collection in a child would touch (and so copy) every shared page
        self.scratch.mkdir(mode=0o700, exist_ok=True)
        self.channel.say("build", describe())

    def serve(self) -> None:
        while (requests := self.channel.requests(POLL if self.running else 0.1)) is not None:
            for job in requests:
                self._begin(job)
            for child in list(self.running):
                if (code := child.poll()) is not None:
                    self._report(child, code)
            if os.getppid() != self.runner:
                return  # nobody is listening any more

    def _forks(self, device: str) -> bool:
        return self.fork and (device == "cpu" or not self.lost)

    @functools.cached_property
    def lost(self) -> bool:
        return cuda_is_lost_in_a_fork()

    def _begin(self, job: dict[str, Any]) -> None:
        folder, fork = self.scratch / str(job["job"]), self._forks(job["device"])
        try:
            self.running.append(Child(job, folder, fork, self.startup, self.channel))
        except OSError as error:
            full = error.errno == errno.ENOSPC
            why = f"the disk that holds {self.scratch.parent} is full" if full else str(error)
            seen = {"outcome": "no report", "detail": f"could not start: {why}", "wall": 0.0}
            self.channel.say("result", {**seen, "job": job["job"]})

    def _report(self, child: Child, code: int) -> None:
        self.running.remove(child)
        seen = child.result(code)
        self.orphans.collect(child, self.running)
        self.channel.say("result", {**seen, "job": child.job["job"]})

    def stop(self) -> None:
        for child in self.running:
            child.kill()
        self.orphans.end()
        remove(self.scratch)


def _work(server: Server) -> int:
    """Runs until the runner is gone. Returns the exit code."""
    try:
        if hasattr(signal, "alarm"):
            # Ends an import that never returns, even if the runner is gone.
            signal.alarm(math.ceil(server.startup))
        server.start()
        if hasattr(signal, "alarm"):
            signal.alarm(0)
        server.serve()
    except BrokenPipeError:
        pass  # the runner is gone
    except Exception:
        traceback.print_exc()  # the runner shows the last line
        return 1
    return 0


def serve(fork: bool) -> None:
    def leave(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(0)

    runner = os.getppid()
    signal.signal(signal.SIGTERM, leave)
    end_with_parent(runner, signal.SIGTERM)
    prctl(SET_DUMPABLE, 0)  # hides /proc/PID/fd and memory from the user's other processes
    prctl(SET_CHILD_SUBREAPER, 1)
    server = Server(fork, runner)
    code = 0
    try:
        try:
            code = _work(server)
        finally:
            # Nothing may interrupt the cleanup, which may start just before the signal arrives.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
    except SystemExit:
        pass
    try:
        server.stop()
        sys.stderr.flush()
    finally:
        exit_now(code)  # with torch, a normal exit takes seconds
