"""A time limit for a check, so that an endless loop in it does not stop the program."""

from __future__ import annotations

import ctypes
import os
import threading
import time

SECONDS = 5.0


class TookTooLong(BaseException):
    """Raised inside a check that has reached the time limit. Not an Exception, so that an `except
    Exception` in the check does not catch it.
    """


class Limit:
    """A context that raises TookTooLong in this thread if it is still open after some seconds.

    A thread of its own watches the time. It can end a loop in Python, but not a call in C.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = seconds
        self._lock = threading.Lock()
        self._deadline: float | None = None
        self._fired = False
        self._process = 0  # the process in which the thread runs; a fork has no threads
        self._target = 0

    def __enter__(self) -> None:
        if self._process != os.getpid():
            self._process, self._lock = os.getpid(), threading.Lock()
            threading.Thread(target=self._watch, args=(self._process,), daemon=True).start()
        self._target, self._fired = threading.get_ident(), False
        self._deadline = time.monotonic() + self.seconds

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        with self._lock:
            self._deadline = None
        if self._fired and kind is not TookTooLong:
            time.sleep(1)  # the exception is on its way: it is raised here, not in the program

    def _watch(self, process: int) -> None:
        while process == self._process:
            time.sleep(self.seconds / 10)
            with self._lock:
                if self._deadline is not None and time.monotonic() > self._deadline:
                    self._deadline, self._fired = None, True
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(self._target), ctypes.py_object(TookTooLong)
                    )
