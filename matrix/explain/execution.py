"""Runs a program as a shell would, and looks up its output while it is running.

The program's output is passed on live and unchanged, with stdout and stderr kept separate. If
either of them is a terminal, the program also gets a terminal (a pty), so that progress bars,
colors and prompts are preserved. Settings that the program changes in the pty are copied to the
real terminal. After the program has ended, `cat` passes on the output of its children. Windows has
no pty. If stdout is a terminal there, the program gets the terminal itself, and its output is not
looked up. The program reads standard input directly.
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
AHEAD = 32  # chunks that may wait to be looked up; if there are more, the program has to wait
LATE = 2.0  # seconds after the program has ended during which its children's output is looked up
SETTINGS = 0.02  # seconds between checks of a terminal's settings
Settings = list[Any]  # the settings of a terminal, as tcgetattr() returns them
FORWARDED = [
    getattr(signal, name)
    for name in ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP")
    if hasattr(signal, name)
]


@dataclass
class Ended:
    """How a program ended."""

    status: int  # the exit status, as reported by a shell
    scans: list[explain.Scan]  # the scans of stdout and stderr
    interrupted: bool  # True if a signal asked it to end


class Stream:
    """An output stream of the program, which is passed on to `target` and looked up."""

    def __init__(self, target: int, reproducers: list[Reproducer]) -> None:
        self.target, self.busy = target, False
        self.chunks: queue.Queue[bytes] = queue.Queue(AHEAD)
        self.scan = explain.Scan({})
        # Ask Python, because another file may have reused the number of a closed stream.
        closed = (sys.__stdout__, sys.__stderr__)[target - 1] is None
        terminal = not closed and os.isatty(target)
        self.inherited = closed or (terminal and pty is None and target == 1)
        self.is_pty = terminal and pty is not None
        self.source, self.inner = _pty(target) if self.is_pty else os.pipe()
        self.ended = False  # True once all writers or the reader are gone
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
        """Returns the matches by the deadline. A daemon may keep the other end open forever."""
        while self.passing.is_alive() and (self.busy or time.monotonic() < deadline):
            self.passing.join(0.05)
        if pty is not None:
            os.close(self.stopping)
            self.passing.join()
            if not self.ended:
                self._leave_to_cat()
        self.chunks.put(b"")
        self.looking.join()
        self.scan.first = ""  # programs print messages, not descriptions of symptoms
        return self.scan

    def _leave_to_cat(self) -> None:
        """Lets `cat` read the children's output. Without a reader, their next write kills them."""
        with suppress(OSError):
            subprocess.Popen(
                ["cat"],
                stdin=self.source,
                stdout=self.target,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a later Ctrl-C is meant for other programs
            )

    def share_settings(self) -> None:
        """Copies settings made through the pty to the terminal, and vice versa."""
        with suppress(OSError):  # the target may not be our controlling terminal
            if os.tcgetpgrp(self.target) != os.getpgrp():
                return  # the shell now controls the terminal
        with suppress(termios.error):  # the terminal may have hung up
            for changed, other in ((self.source, self.target), (self.target, self.source)):
                before, now = self.settings[changed], termios.tcgetattr(changed)
                if now != before:
                    new = _changed(termios.tcgetattr(other), before, now)
                    new = _without_output(new) if other == self.source else new
                    termios.tcsetattr(other, termios.TCSANOW, new)
                    self.settings = {fd: termios.tcgetattr(fd) for fd in (changed, other)}

    def restore_settings(self) -> None:
        """Restores the program's settings after a stop, during which the shell changed them."""
        with suppress(termios.error):
            self.settings = {self.source: self.first, self.target: termios.tcgetattr(self.target)}

    def _pass_on(self) -> None:
        data: bytes | None = b""
        with suppress(OSError):  # every writer closed the pty, or our own reader is gone
            while data := self._read():
                self.busy = True
                self._write(data)
                self.chunks.put(data)
                self.busy = False
        self.busy = False
        self.ended = data is not None
        if self.ended and not self.is_pty:  # the settings of a pty are still read
            os.close(self.source)  # tells the program that its reader is gone

    def _read(self) -> bytes | None:
        """The next output, b"" if all writers are gone, or None if reading was stopped."""
        if pty is not None:  # Windows can neither wait for pipes nor stop waiting
            ready = select.select([self.source, self.stop], [], [])[0]
            if self.source not in ready:
                return None
        return os.read(self.source, CHUNK)

    def _write(self, data: bytes) -> None:
        while data:
            try:
                data = data[os.write(self.target, data) :]
            except BlockingIOError:  # the program made the shared terminal non-blocking
                select.select([], [self.target], [])
            except BrokenPipeError:
                raise
            except OSError:  # a full disk must not terminate the program
                return

    def _look_up(self, reproducers: list[Reproducer]) -> None:
        self.scan = explain.scan(explain.decoded(self._pieces()), reproducers)

    def _pieces(self) -> Iterator[bytes]:
        piece = bytearray()
        while data := self.chunks.get():
            piece += data
            if len(piece) >= explain.PIECE:
                yield bytes(piece)
                piece.clear()
        yield bytes(piece)


def _pty(target: int) -> tuple[int, int]:
    """Both ends of a pty that has the target's settings and passes output on unchanged."""
    source, inner = pty.openpty()
    termios.tcsetattr(inner, termios.TCSANOW, _without_output(termios.tcgetattr(target)))
    _resize(source, target)
    return source, inner


def _without_output(settings: Settings) -> Settings:
    """The settings without output processing, which is left to the target."""
    return [*settings[:1], settings[1] & ~termios.OPOST, *settings[2:]]


def _changed(settings: Settings, before: Settings, after: Settings) -> Settings:
    """The settings with the differences between `before` and `after` applied."""
    flags = [
        (current & ~(old ^ new)) | (new & (old ^ new))
        for current, old, new in zip(settings[:4], before, after)
    ]
    speeds = [new if new != old else now for now, old, new in zip(settings, before, after)][4:6]
    keys = [new if new != old else now for now, old, new in zip(settings[6], before[6], after[6])]
    return [*flags, *speeds, keys]


def _resize(source: int, target: int) -> None:
    with suppress(OSError):
        fcntl.ioctl(source, termios.TIOCSWINSZ, fcntl.ioctl(target, termios.TIOCGWINSZ, bytes(8)))


def run(
    command: list[str], reproducers: list[Reproducer], environment: dict[str, str] | None = None
) -> Ended:
    """Runs the program until it ends. Raises OSError or ValueError if it cannot be started.

    `environment` has its variables; None stands for those of this process.
    """
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
        # signals that are ignored here (as under nohup) are ignored in the program too
        if signal.getsignal(number) != signal.SIG_IGN
    }
    interval = sys.getswitchinterval()
    sys.setswitchinterval(0.0001)  # seconds, so that output does not have to wait for look-ups
    try:
        child = subprocess.Popen(command, stdout=stdout, stderr=stderr, env=environment)
        for stream in streams:
            stream.start()
        for number in early:
            child.send_signal(number)
        while terminals and child.poll() is None:
            time.sleep(SETTINGS)
            _share_settings(terminals)
        status = child.wait()
        _share_settings(terminals)  # the program's last settings
        deadline = time.monotonic() + LATE
        scans = [stream.finish(deadline) for stream in streams]
    finally:
        sys.setswitchinterval(interval)
        for number, handler in before.items():
            signal.signal(number, handler)
    status = status if status >= 0 or sys.platform == "win32" else 128 - status
    asked = bool(received) or status - 128 in FORWARDED
    return Ended(status, scans, asked)


def _share_settings(terminals: list[Stream]) -> None:
    """Shares the settings of all streams, which may go to the same terminal.

    The first stream comes again at the end, because the last may have changed the terminal. Without
    this, a program that changes them through both streams in turn could leave the first change.
    """
    for stream in [*terminals, *terminals[:1]]:
        stream.share_settings()


def _from_terminal(number: int) -> bool:
    """True if the signal comes from a terminal (Ctrl-C), which sends it to the program too.

    Both processes are in the terminal's foreground group.
    """
    if number not in (signal.SIGINT, getattr(signal, "SIGQUIT", None)) or pty is None:
        return number == signal.SIGINT  # on Windows, the console sends Ctrl-C to both
    with suppress(OSError):
        terminal = os.open(os.ctermid(), os.O_RDONLY | os.O_NOCTTY)
        try:
            return os.tcgetpgrp(terminal) == os.getpgrp()
        finally:
            os.close(terminal)
    return False
