"""Starts processes that end when the process that waits for them ends, even because of a signal."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

# By default, these signals would leave child processes and temporary files behind.
LEAVE_BY = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def leaving_by_exception() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise SystemExit, just as Ctrl-C raises KeyboardInterrupt."""
    numbers = [number for number in LEAVE_BY if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    for number in numbers:
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def started(command: list[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Starts a process in its own session. Afterwards, kills it and all processes it has started.

    With subprocess.run(), the process would keep running if a signal handler raised an error before
    Popen() returned.

    Raises:
        OSError: the process cannot be started.
    """
    process = None
    try:
        with _holding_signals():
            process = subprocess.Popen(command, start_new_session=True, **options)
        yield process
    finally:
        if process is not None:
            with process:  # waits for the process and closes the pipes
                kill(process)


def kill(process: subprocess.Popen[Any]) -> None:
    """Kills the process, which leads its own session, and all processes that it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


@contextlib.contextmanager
def _holding_signals() -> Iterator[None]:
    """Delays signals whose handlers may raise an error until the end of the block."""
    received: list[int] = []
    handlers = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *LEAVE_BY)}
        handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, _: received.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in received[:1]:
            signal.raise_signal(number)
