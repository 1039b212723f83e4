"""The calls of the worker to the operating system."""

from __future__ import annotations

import os
import sys

LINUX = sys.platform == "linux"
exit_now = os._exit  # a reproducer may replace it, and its process must not continue as a worker
FORK = LINUX  # macOS frameworks and Windows cannot continue in a forked child

SET_PDEATHSIG, SET_DUMPABLE, SET_CHILD_SUBREAPER = 1, 4, 36  # of Linux's prctl()

try:
    import ctypes

    _libc = ctypes.CDLL(None) if LINUX else None
except ImportError:  # an interpreter that was built without ctypes
    _libc = None


def prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0)))


def end_with_parent(parent: int, number: int) -> None:
    """Linux sends this process the signal when its parent dies (or the thread that started it)."""
    prctl(SET_PDEATHSIG, number)
    if os.getppid() != parent:  # the parent died before the call
        exit_now(1)
