"""Processes that a run left behind."""

from __future__ import annotations

import contextlib
import os
import signal

from .child import Child
from .system import LINUX


class Orphans:
    """Processes that a run left behind. Linux makes them the worker's children.

    Which run one belongs to is not known, so it is killed when all that were under way as it was
    found have ended.
    """

    def __init__(self) -> None:
        self.suspects: dict[int, set[int]] = {}  # orphan -> the children one of which left it

    def collect(self, ended: Child, running: list[Child]) -> None:
        """Finds what the run left, and kills what belongs to no run that is still under way."""
        known = {child.pid for child in running}
        self._find(ended.pid, known, known)
        for suspects in self.suspects.values():
            suspects.discard(ended.pid)
        self._kill(known)

    def end(self) -> None:
        """Kills all, children included."""
        self._find(0, set(), set())
        for suspects in self.suspects.values():
            suspects.clear()
        self._kill(set())

    def _find(self, since: int, suspects: set[int], known: set[int]) -> None:
        for pid in _children(since) - known - self.suspects.keys():
            self.suspects[pid] = {child for child in suspects if child < pid}  # it is younger

    def _kill(self, known: set[int]) -> None:
        while alone := [pid for pid, suspects in self.suspects.items() if not suspects]:
            for pid in alone:
                with contextlib.suppress(OSError):
                    if os.waitpid(pid, os.WNOHANG)[0] == 0:  # else it has ended: no longer its pid
                        os.kill(pid, signal.SIGKILL)
                        os.waitpid(pid, 0)
                del self.suspects[pid]
            self._find(min(alone), set(), known)  # an orphan's children become orphans


def _children(since: int) -> set[int]:
    """The processes whose parent is this one and whose number is at least `since`, on Linux."""
    if not LINUX:
        return set()
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) >= since:
            with contextlib.suppress(OSError):  # it has ended meanwhile
                with open(f"/proc/{name}/stat", "rb") as stat:
                    parent = stat.read().rpartition(b")")[2].split()[1]
                if int(parent) == os.getpid():
                    found.add(int(name))
    return found
