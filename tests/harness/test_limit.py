"""Runs a test that takes longer than tests/conftest.py allows."""

import re
import signal
import subprocess
import sys
import time

import pytest

from matrix import catalog

SLOW = """\
import subprocess, sys, time
from tests import conftest

conftest.LIMIT = 1.0


def test_slow():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    print("started", process.pid)
    assert process.wait() == -9


def test_fast():
    pass
"""


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="Windows has no interval timer")
def test_a_test_that_takes_too_long_fails_and_its_processes_end(tmp_path):
    path = tmp_path / "test_slow.py"
    path.write_text(SLOW)
    options = ["-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    command = [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), str(path)]
    began = time.monotonic()
    done = subprocess.run(command, cwd=catalog.ROOT, capture_output=True, text=True)
    assert time.monotonic() - began < 50
    assert "still running after 1 s" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
    pid = re.search(r"^started (\d+)$", done.stdout, re.M)[1]
    state = subprocess.run(["ps", "-o", "stat=", "-p", pid], capture_output=True, text=True)
    assert state.stdout.strip()[:1] in ("", "Z")
