"""Tests a single run for a report, in interpreters that print arbitrary text."""

import os
import sys
import time

import pytest

from matrix import catalog
from matrix.evidence.observation import NothingObserved
from matrix.run import observe
from matrix.run.runner import RunnerError
from tests.harness.helpers import RETURNS, plant


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_versions_that_are_not_utf8_cost_no_report(root, tmp_path):
    plant(root, "planted/one", RETURNS.format("boom"))
    script = tmp_path / "python"
    asked = "case $* in *collect_env*) printf 'caf\\351\\nFlags: many\\n'; exit;; esac"
    script.write_text(f'#!/bin/sh\n{asked}\nexec {sys.executable} "$@"\n')
    script.chmod(0o755)
    seen = observe.measured_here(catalog.load(root)[0], str(script), None)
    assert (seen.verdict, seen.text, seen.device) == ("reproduced", "boom", "cpu")
    assert seen.versions == "caf\ufffd"


def test_the_device_on_which_the_bug_shows_is_reported(root, monkeypatch):
    code = "def reproduce(device):\n    return 'boom' if device == 'mps' else None\n"
    plant(root, "planted/one", code, affected='{ cpu = "never", mps = ">=1.13" }')
    monkeypatch.setenv("STUB_DEVICES", "cpu mps")
    seen = observe.measured_here(catalog.load(root)[0], sys.executable, None)
    assert (seen.verdict, seen.device) == ("reproduced", "mps")


def test_nothing_observed_says_why(root):
    plant(root, "planted/one", RETURNS.format("boom"), affected='{ mps = ">=1.13" }')
    with pytest.raises(RunnerError, match="applies to mps: .* the stub has no mps"):
        observe.measured_here(catalog.load(root)[0], sys.executable, None)
    plant(root, "planted/one", RETURNS.format("boom"), requires='">=99"')
    with pytest.raises(NothingObserved, match="cannot be run here: needs torch >=99"):
        observe.measured_here(catalog.load(root)[0], sys.executable, None)


WARNS = """\
import os
import sys
import time


def step(bad):
    print("a path:", __file__, file=sys.stderr)
    if bad:
        raise RuntimeError("boom \\x1b[31m")


def run(bad):
    try:
        step(bad)
    except RuntimeError as error:
        return str(error)


def reproduce(device):
    return run(True)


def control(device):
    return run(False)
"""


def test_the_program_of_the_report_is_run_and_quoted(root, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    plant(root, "planted/one", WARNS)
    seen = observe.measured_here(catalog.load(root)[0], sys.executable, None)
    lines = seen.printed.splitlines()
    assert lines[:4] == [
        "a path: repro.py",
        "control: ok",
        "a path: repro.py",
        "Traceback (most recent call last):",
    ]
    assert lines[4].startswith('  File "repro.py", line ')
    assert lines[-1] == r"RuntimeError: boom \x1b[31m"
    assert seen.record == ""


def test_a_program_that_does_not_show_what_was_reproduced_is_no_report(root, monkeypatch):
    plant(root, "planted/one", RETURNS.format("boom"))
    monkeypatch.setattr(catalog.Reproducer, "program", lambda *_: 'print("control: ok\\nseen: it")')
    with pytest.raises(NothingObserved, match="its program does not show it.*\n.*\nseen: it"):
        observe.measured_here(catalog.load(root)[0], sys.executable, None)


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
def test_a_program_that_goes_on_is_stopped_with_what_it_started(monkeypatch):
    monkeypatch.setattr(observe.runner, "STARTUP", 1.0)
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid)\ntime.sleep(60)"
    )
    pid, last = observe.run_program(program, sys.executable, 0.5).splitlines()
    assert last == "still running after 1.5 s; killed"
    deadline = time.monotonic() + 10  # the process is a zombie until init reaps it
    while alive(int(pid)):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_signal_that_ends_a_program_is_named_with_its_function():
    program = "import faulthandler, os\nfaulthandler.enable()\ndef f():\n    os.kill(os.getpid(), 11)\nf()"
    printed = observe.run_program(program, sys.executable, 5)
    assert '  File "repro.py", line 4 in f\n' in printed
    assert printed.endswith("killed by SIGSEGV in f\n")
    assert observe.run_program("import os; os.kill(os.getpid(), 9)", sys.executable, 5) == (
        "killed by SIGKILL\n"
    )


def test_what_a_program_prints_names_no_user_and_is_no_book():
    program = "from pathlib import Path\nprint(Path.home() / 'a')\nfor i in range(100): print(i)\nprint('x' * 999)"
    lines = observe.short(observe.run_program(program, sys.executable, 5)).splitlines()
    assert lines[0].replace("\\", "/") == "~/a"
    assert lines[observe.LINES // 2] == f"[... {102 - observe.LINES} lines ...]"
    assert lines[-2:] == ["99", f"{'x' * observe.COLUMNS} [...]"]


def test_of_a_long_traceback_the_errors_are_kept():
    frames = '  File "a.py", line 1, in f\n    f()\n' * 30
    shown = observe.short(f"Traceback:\n{frames}first\n\n{frames}RuntimeError: second\n")
    assert shown == "Traceback:\nfirst\n\nRuntimeError: second\n"


@pytest.mark.parametrize(
    "path",
    [
        "/home/ann/venv/lib/python3.11/site-packages/",
        "C:\\Users\\ann\\venv\\Lib\\site-packages\\",
        "/home/ann/.pyenv/versions/3.11.7/lib/",
    ],
)
def test_where_a_library_is_installed_is_left_out(path):
    rest = "python3.11/runpy.py" if path.endswith("/lib/") else "torch/_tensor.py"
    assert observe._INSTALLED.sub(r"\1", f'  File "{path}{rest}", line 3') == (
        f'  File "{rest}", line 3'
    )
