"""Tracks the processes that runs left behind."""

from __future__ import annotations

import contextlib
import os
import signal

from .child import Child
from .system import LINUX


class Orphans:
    """Processes that runs left behind. On Linux, they become the worker's children.

    It is not known which run left an orphan behind. An orphan is therefore killed once all runs
    that were in progress when it was found have ended.
    """

    def __init__(self) -> None:
        self.suspects: dict[int, set[int]] = {}  # orphan -> the children that may have left it

    def collect(self, ended: Child, running: list[Child]) -> None:
        """Finds the run's orphans, and kills those that no run in progress can have left behind."""
        running_pids = {child.pid for child in running}
        self._find(ended.pid, running_pids, running_pids)
        for suspects in self.suspects.values():
            suspects.discard(ended.pid)
        self._kill(running_pids)

    def end(self) -> None:
        """Kills all orphans and all children."""
        self._find(0, set(), set())
        for suspects in self.suspects.values():
            suspects.clear()
        self._kill(set())

    def _find(self, since: int, suspects: set[int], running_pids: set[int]) -> None:
        for pid in _children(since) - running_pids - self.suspects.keys():
            # an orphan is younger than the child that left it behind
            self.suspects[pid] = {child for child in suspects if child < pid}

    def _kill(self, running_pids: set[int]) -> None:
        while alone := [pid for pid, suspects in self.suspects.items() if not suspects]:
            for pid in alone:
                with contextlib.suppress(OSError):
                    if os.waitpid(pid, os.WNOHANG)[0] == 0:  # otherwise, it has ended
                        os.kill(pid, signal.SIGKILL)
                        os.waitpid(pid, 0)
                del self.suspects[pid]
            self._find(min(alone), set(), running_pids)  # an orphan's children become orphans


def _children(since: int) -> set[int]:
    """The pids of this process's children, starting at `since`. Empty except on Linux."""
    if not LINUX:
        return set()
    pids = set()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) >= since:
            with contextlib.suppress(OSError):  # the process may have just ended
                with open(f"/proc/{name}/stat", "rb") as stat:
                    parent = stat.read().rpartition(b")")[2].split()[1]
                if int(parent) == os.getpid():
                    pids.add(int(name))
    return pids
