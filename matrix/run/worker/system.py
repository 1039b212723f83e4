"""Wraps the worker's calls to the operating system."""

from __future__ import annotations

import os
import sys

LINUX = sys.platform == "linux"
exit_now = os._exit  # reproducers may replace os._exit, but must not continue as a worker
FORK = LINUX  # Windows cannot fork, and macOS frameworks do not work in forked children

SET_PDEATHSIG, SET_DUMPABLE, SET_CHILD_SUBREAPER = 1, 4, 36  # options of prctl() on Linux

try:
    import ctypes

    _libc = ctypes.CDLL(None) if LINUX else None
except ImportError:  # the interpreter was built without ctypes
    _libc = None


def prctl(option: int, value: int) -> None:
    if _libc is not None:
        _libc.prctl(option, *map(ctypes.c_ulong, (value, 0, 0, 0)))


def end_with_parent(parent: int, number: int) -> None:
    """Lets Linux signal this process when its parent, or the thread that started it, dies."""
    prctl(SET_PDEATHSIG, number)
    if os.getppid() != parent:  # the parent died before the call
        exit_now(1)
