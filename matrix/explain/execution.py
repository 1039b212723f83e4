"""Runs a program as a shell would, and looks up what it prints meanwhile.

Its output goes through live and unchanged, stdout and stderr apart. Where one of them is a
terminal the program gets a terminal too (a pty), so that progress bars, colours and prompts stay
as they are; settings that the program makes there reach the real terminal. What its children print
once it has ended is left to `cat`. Windows has no pty: there a stdout that is a terminal is left to
the program and not looked at. Standard input is the program's own.
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
from dataclasses import dataclass
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
LATE = 2.0  # seconds after the program's end in which what its children print is looked up too
SETTINGS = 0.02  # seconds between two looks at the settings of a terminal
Settings = list[Any]  # of a terminal, as tcgetattr() gives them
FORWARDED = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]


@dataclass
class Ended:
    """What became of a program."""

    status: int  # as a shell gives it
    scans: list[explain.Scan]  # of stdout and stderr
    interrupted: bool  # a signal asked it to end


class Stream:
    """One of the program's outputs: passed on to `target`, and looked up."""

    def __init__(self, target: int, reproducers: list[Reproducer]) -> None:
        self.target, self.busy = target, False
        self.chunks: queue.Queue[bytes] = queue.Queue(AHEAD)
        self.scan = explain.Scan({})
        # Python's own answer: another file may have got the number of one that is closed.
        closed = (sys.__stdout__, sys.__stderr__)[target - 1] is None
        terminal = not closed and os.isatty(target)
        self.inherited = closed or (terminal and pty is None and target == 1)
        self.is_pty = terminal and pty is not None
        self.source, self.inner = _pty(target) if self.is_pty else os.pipe()
        self.ended = False  # nobody can print any more, or nobody can read it
        self.stop, self.stopping = os.pipe()
        self.settings: dict[int, Settings] = {}
        if self.is_pty:
            self.first = termios.tcgetattr(self.source)
            self.restore_settings()
        self.passing = threading.Thread(target=self._pass_on, daemon=True)
        self.looking = threading.Thread(target=self._look_up, args=(reproducers,), daemon=True)

    def start(self) -> None:
        os.close(self.inner)
        self.passing.start()
        self.looking.start()

    def finish(self, deadline: float) -> explain.Scan:
        """What was found by the deadline; a daemon may hold the other end for ever."""
        while self.passing.is_alive() and (self.busy or time.monotonic() < deadline):
            self.passing.join(0.05)
        if pty is not None:
            os.close(self.stopping)
            self.passing.join()
            if not self.ended:
                self._leave_to_cat()
        self.chunks.put(b"")
        self.looking.join()
        self.scan.first = ""  # a program prints messages; people describe symptoms
        return self.scan

    def _leave_to_cat(self) -> None:
        """Without a reader, the next line of a child would end it."""
        with suppress(OSError):
            subprocess.Popen(
                ["cat"],
                stdin=self.source,
                stdout=self.target,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is meant for what runs then
            )

    def share_settings(self) -> None:
        """Makes what was set through the pty hold for the terminal, and the other way round."""
        with suppress(OSError):  # it is not the terminal that sends our signals
            if os.tcgetpgrp(self.target) != os.getpgrp():
                return  # the shell has it now
        with suppress(termios.error):  # it has hung up
            for here, there in ((self.source, self.target), (self.target, self.source)):
                before, now = self.settings[here], termios.tcgetattr(here)
                if now != before:
                    new = _changed(termios.tcgetattr(there), before, now)
                    new = _without_output(new) if there == self.source else new
                    termios.tcsetattr(there, termios.TCSANOW, new)
                    self.settings = {fd: termios.tcgetattr(fd) for fd in (here, there)}

    def restore_settings(self) -> None:
        """What the program set holds again, after a stop in which the shell made its own."""
        with suppress(termios.error):
            self.settings = {self.source: self.first, self.target: termios.tcgetattr(self.target)}

    def _pass_on(self) -> None:
        data: bytes | None = b""
        with suppress(OSError):  # a pty that nobody holds any more; a reader of ours that went away
            while data := self._read():
                self.busy = True
                self._write(data)
                self.chunks.put(data)
                self.busy = False
        self.busy = False
        self.ended = data is not None
        if self.ended and not self.is_pty:  # the settings of a pty are still looked at
            os.close(self.source)  # so that the program is told where its reader went away

    def _read(self) -> bytes | None:
        """What the program prints next: b"" where nobody can print any more, None once stopped."""
        if pty is not None:  # else it is Windows, which cannot wait for a pipe, nor stop
            ready = select.select([self.source, self.stop], [], [])[0]
            if self.source not in ready:
                return None
        return os.read(self.source, CHUNK)

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self.target, data) :]
            except BlockingIOError:  # the program shares our terminal, and made it so
                select.select([], [self.target], [])
            except BrokenPipeError:
                raise
            except OSError:  # a full disk is no reason to end the program
                return

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
    source, inner = pty.openpty()
    termios.tcsetattr(inner, termios.TCSANOW, _without_output(termios.tcgetattr(target)))
    _resize(source, target)
    return source, inner


def _without_output(settings: Settings) -> Settings:
    """The settings without the processing of output: the target does that."""
    return [*settings[:1], settings[1] & ~termios.OPOST, *settings[2:]]


def _changed(settings: Settings, before: Settings, after: Settings) -> Settings:
    """The settings with what differs between `before` and `after`."""
    flags = [
        (here & ~(old ^ new)) | (new & (old ^ new))
        for here, old, new in zip(settings[:4], before, after)
    ]
    speeds = [new if new != old else here for here, old, new in zip(settings, before, after)][4:6]
    keys = [new if new != old else here for here, old, new in zip(settings[6], before[6], after[6])]
    return [*flags, *speeds, keys]


def _resize(source: int, target: int) -> None:
    with suppress(OSError):
        fcntl.ioctl(source, termios.TIOCSWINSZ, fcntl.ioctl(target, termios.TIOCGWINSZ, bytes(8)))


def run(command: list[str], reproducers: list[Reproducer]) -> Ended:
    """Runs the program to its end. Raises OSError or ValueError where it cannot be started."""
    streams = [Stream(target, reproducers) for target in (1, 2)]
    terminals = [stream for stream in streams if stream.is_pty]
    stdout, stderr = (None if stream.inherited else stream.inner for stream in streams)
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []
    received: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:
        received.append(number)
        if child is None:
            early.append(number)
        elif not _from_terminal(number):
            child.send_signal(number)

    def resize(number: int, frame: FrameType | None) -> None:
        for stream in terminals:
            _resize(stream.source, stream.target)

    def resume(number: int, frame: FrameType | None) -> None:
        for stream in terminals:
            stream.restore_settings()

    handlers: dict[int, Any] = dict.fromkeys(FORWARDED, forward)
    if terminals:
        handlers |= {signal.SIGWINCH: resize, signal.SIGCONT: resume}
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        # what is ignored, as under nohup, is ignored by the program too
        if signal.getsignal(number) != signal.SIG_IGN
    }
    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)  # seconds: passing on never waits long for looking up
    try:
        child = subprocess.Popen(command, stdout=stdout, stderr=stderr)
        for stream in streams:
            stream.start()
        for number in early:
            child.send_signal(number)
        while terminals and child.poll() is None:
            time.sleep(SETTINGS)
            for stream in terminals:
                stream.share_settings()
        status = child.wait()
        for stream in terminals:
            stream.share_settings()  # the last ones that it made
        deadline = time.monotonic() + LATE
        scans = [stream.finish(deadline) for stream in streams]
    finally:
        sys.setswitchinterval(interval)
        for number, handler in before.items():
            signal.signal(number, handler)
    status = status if status >= 0 or sys.platform == "win32" else 128 - status
    asked = bool(received) or status - 128 in FORWARDED
    return Ended(status, scans, asked)


def _from_terminal(number: int) -> bool:
    """True if a terminal sends it (Ctrl-C), to the program too, as both are its foreground."""
    if number not in (signal.SIGINT, getattr(signal, "SIGQUIT", None)) or pty is None:
        return number == signal.SIGINT  # Windows: the console's Ctrl-C goes to both
    with suppress(OSError):
        terminal = os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.tcgetpgrp(terminal) == os.getpgrp()
        finally:
            os.close(terminal)
    return False
