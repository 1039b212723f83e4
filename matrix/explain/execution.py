"""Runs a program as a shell would, and looks up what it prints meanwhile.

Its output goes through live and unchanged, stdout and stderr apart. Where one of them is a
terminal the program gets a terminal too (a pty), so that progress bars, colours and prompts stay
as they are. Windows has no pty: there a stdout that is a terminal is left to the program and not
looked at. Standard input is the program's own.
"""

from __future__ import annotations

import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from types import FrameType
from typing import Any

from ..catalog import Reproducer
from . import explain

try:
    import fcntl
    import pty
    import termios
except ImportError:  # Windows
    pty = None  # type: ignore[assignment]

CHUNK = 1 << 16  # bytes read at a time
AHEAD = 32  # chunks that are passed on and not yet looked up; then the program has to wait
# Seconds after the program's end: of silence, and in all, while a child of it may still print.
SILENCE, LONGEST = 2.0, 30.0
FORWARDED = ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP")


class Stream:
    """One of the program's outputs: passed on to `target`, and looked up."""

    def __init__(self, target: int, reproducers: list[Reproducer]) -> None:
        self.target, self.busy, self.last = target, False, 0.0
        self.chunks: queue.Queue[bytes] = queue.Queue(AHEAD)
        self.scan = explain.Scan({})
        terminal = os.isatty(target)
        self.inherited = terminal and pty is None and target == 1
        self.is_pty = terminal and pty is not None
        self.source, self.given = _pty(target) if self.is_pty else os.pipe()
        self.passing = threading.Thread(target=self._pass_on, daemon=True)
        self.looking = threading.Thread(target=self._look_up, args=(reproducers,), daemon=True)

    def start(self) -> None:
        os.close(self.given)
        self.passing.start()
        self.looking.start()

    def finish(self) -> explain.Scan:
        """What was found, when all is passed on; a daemon may hold the other end for ever."""
        ended = time.monotonic()
        while self.passing.is_alive() and (
            self.busy or time.monotonic() < min(max(ended, self.last) + SILENCE, ended + LONGEST)
        ):
            self.passing.join(0.05)
        self.chunks.put(b"")
        self.looking.join()
        self.scan.first = ""  # a program prints messages; people describe symptoms
        return self.scan

    def _pass_on(self) -> None:
        with suppress(OSError):  # a pty that nobody holds any more; a reader of ours that went away
            while data := os.read(self.source, CHUNK):
                self.busy = True
                self._write(data)
                self.chunks.put(data)
                self.busy, self.last = False, time.monotonic()
        self.busy = False
        os.close(self.source)  # so that the program is told where its reader went away

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self.target, data) :]
            except BlockingIOError:  # the program shares our terminal, and made it so
                select.select([], [self.target], [])

    def _look_up(self, reproducers: list[Reproducer]) -> None:
        self.scan = explain.scan(explain.decoded(self._pieces()), reproducers)

    def _pieces(self) -> Iterator[bytes]:
        held = bytearray()
        while data := self.chunks.get():
            held += data
            if len(held) >= explain.PIECE:
                yield bytes(held)
                held.clear()
        yield bytes(held)


def _pty(target: int) -> tuple[int, int]:
    """Both ends of a terminal that is as the target, and adds nothing of its own to the output."""
    source, given = pty.openpty()
    attributes = termios.tcgetattr(target)
    attributes[1] &= ~termios.OPOST
    termios.tcsetattr(given, termios.TCSANOW, attributes)
    _resize(source, target)
    return source, given


def _resize(source: int, target: int) -> None:
    with suppress(OSError):
        fcntl.ioctl(source, termios.TIOCSWINSZ, fcntl.ioctl(target, termios.TIOCGWINSZ, bytes(8)))


def run(command: list[str], reproducers: list[Reproducer]) -> tuple[int, list[explain.Scan]]:
    """The exit status, as a shell gives it, and what was found in stdout and stderr.

    Raises OSError where the program cannot be started.
    """
    streams = [Stream(target, reproducers) for target in (1, 2)]
    stdout, stderr = (None if stream.inherited else stream.given for stream in streams)
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:
        if child is None:
            early.append(number)
        elif not _from_terminal(number):
            child.send_signal(number)

    def resize(number: int, frame: FrameType | None) -> None:
        for stream in streams:
            if stream.is_pty:
                _resize(stream.source, stream.target)

    handlers: dict[str, Any] = {**dict.fromkeys(FORWARDED, forward), "SIGWINCH": resize}
    before = {
        number: signal.signal(number, handler)
        for name, handler in handlers.items()
        if (number := getattr(signal, name, None)) is not None
        # what is ignored, as under nohup, is ignored by the program too
        and signal.getsignal(number) != signal.SIG_IGN
    }
    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)  # seconds: passing on never waits long for looking up
    try:
        child = subprocess.Popen(command, stdout=stdout, stderr=stderr)
        for stream in streams:
            stream.start()
        for number in early:
            child.send_signal(number)
        status = child.wait()
        scans = [stream.finish() for stream in streams]
    finally:
        sys.setswitchinterval(interval)
        for number, handler in before.items():
            signal.signal(number, handler)
    return (status if status >= 0 or sys.platform == "win32" else 128 - status), scans


def _from_terminal(number: int) -> bool:
    """Whether a terminal sends it (Ctrl-C), to the program as well, as both are its foreground."""
    if number not in (signal.SIGINT, getattr(signal, "SIGQUIT", None)) or pty is None:
        return number == signal.SIGINT  # Windows: the console's Ctrl-C goes to both
    with suppress(OSError):
        terminal = os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.tcgetpgrp(terminal) == os.getpgrp()
        finally:
            os.close(terminal)
    return False
