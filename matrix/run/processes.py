"""Processes that end with whoever waits for them, also where a signal ends that."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

# Their default action would leave at work what was started, and files where they are.
LEAVE_BY = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


@contextlib.contextmanager
def leaving_by_exception() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit, as Ctrl-C raises KeyboardInterrupt."""
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
    """This process, in a session of its own; afterwards it and what it has started are killed.

    subprocess.run() leaves it at work if a signal raises before Popen() has returned.

    Raises:
        OSError: it cannot be started.
    """
    process = None
    try:
        with _holding_signals():
            process = subprocess.Popen(command, start_new_session=True, **options)
        yield process
    finally:
        if process is not None:
            with process:  # waits, and closes the pipes
                kill(process)


def kill(process: subprocess.Popen[Any]) -> None:
    """The process, which leads a session of its own, and what it has started."""
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


@contextlib.contextmanager
def _holding_signals() -> Iterator[None]:
    """Those that raise do so afterwards."""
    came: list[int] = []
    handlers = {}
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *LEAVE_BY)}
        handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    for number in handlers:
        signal.signal(number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in came[:1]:
            signal.raise_signal(number)
