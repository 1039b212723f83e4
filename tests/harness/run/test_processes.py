"""Tests that a process ends with its caller, for any signal at any moment."""

import os
import signal
import subprocess
import sys
import time

import pytest

from matrix.run import processes

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

# Starts a process that records its id; Popen() returns the given number of seconds later.
PROGRAM = """
import signal, subprocess, sys, time
from matrix.run import processes
for number in processes.LEAVE_BY:
    signal.signal(number, signal.SIG_DFL)  # under nohup SIGHUP is ignored
start = subprocess.Popen._execute_child
def slow_start(*arguments):
    start(*arguments)
    time.sleep(float(sys.argv[2]))
subprocess.Popen._execute_child = slow_start
try:
    with processes.leaving_by_exception():
        with processes.started(["sh", "-c", f"echo $$ > {sys.argv[1]}; exec sleep 60"]) as process:
            process.wait()
finally:
    print("left in order")
"""


def number_in(path, writer):
    while not path.exists() or not path.read_text().endswith("\n"):
        assert writer.poll() is None
        time.sleep(0.01)
    return int(path.read_text())


@pytest.mark.parametrize("slow", ["0", "1"], ids=["as_it_waits", "as_it_starts"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_what_was_started(tmp_path, name, slow):
    number = signal.Signals[name]
    waiting = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, tmp_path / "pid", slow],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    pid = number_in(tmp_path / "pid", waiting)
    waiting.send_signal(number)
    assert waiting.communicate(timeout=30)[0] == "left in order\n"
    assert waiting.returncode == (-number if number == signal.SIGINT else 128 + number)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def handlers():
    return [signal.getsignal(number) for number in (signal.SIGINT, *processes.LEAVE_BY)]


def test_signals_are_as_before_once_it_has_started():
    before = handlers()
    with processes.started([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert handlers() == before
    assert process.returncode == -signal.SIGKILL
    assert process.stdin.closed


def test_signals_have_their_default_action_again_afterwards():
    before = [signal.signal(number, signal.SIG_DFL) for number in processes.LEAVE_BY]
    try:
        with processes.leaving_by_exception():
            assert all(map(callable, handlers()))
        assert handlers()[1:] == [signal.SIG_DFL] * len(before)
    finally:
        for number, handler in zip(processes.LEAVE_BY, before):
            signal.signal(number, handler)


def test_an_ignored_signal_stays_ignored(monkeypatch):
    monkeypatch.setattr(signal, "getsignal", lambda number: signal.SIG_IGN)
    monkeypatch.setattr(signal, "signal", lambda *_: pytest.fail("a handler was set"))
    with (
        processes.leaving_by_exception(),
        processes.started([sys.executable, "-c", ""]) as process,
    ):
        assert process.wait() == 0


def test_what_cannot_be_started_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=str(tmp_path)),
        processes.started([str(tmp_path / "missing")]),
    ):
        pass
