"""Options of the test suite: the device to use, and the copy of the fixes to test.

This file imports neither torch nor Hypothesis, because the tests of the harness need neither.
"""

import contextlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import pytest

from matrix import catalog
from matrix.devices import DEVICES
from matrix.run import runner

FAMILIES = catalog.fixes()
set_handler = signal.signal  # the original function, because a test may replace it
LIMIT = 300.0  # seconds per test without its fixtures; the slowest test takes a tenth of this


def pytest_addoption(parser):
    parser.addoption(
        "--device",
        choices=DEVICES,
        default="cpu",
        help="device that fixes and reproducers run on",
    )
    parser.addoption(
        "--fixes",
        metavar="DIR",
        help="folder with the reference fixes to test, such as a project's vendored copies",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "xdist_group(name): tests that share one expensive fixture")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        # A background job ignores Ctrl-C, and the programs that tests interrupt would inherit this.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    device = config.getoption("--device")
    if device != "cpu":
        from tests.trials.shared import why_unusable  # not at the top, because it imports torch

        if reason := why_unusable(device):
            raise pytest.UsageError(f"--device {device}: {reason}")
    if folder := config.getoption("--fixes"):
        _use_fixes_of(Path(folder).resolve())


def pytest_collection_modifyitems(items):
    """Puts tests that share an expensive fixture first, so that all processes end together."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    """Fails a test that takes too long, and kills the processes that it started."""
    # Windows has no interval timer, and a fixture may have set one
    if not hasattr(signal, "setitimer") or signal.getitimer(signal.ITIMER_REAL)[0]:
        yield
        return

    began = time.monotonic()

    def give_up(number, frame):
        # a busy machine gets more time, in proportion to its load
        left = LIMIT * max(1.0, os.getloadavg()[0] / runner.cores()) - (time.monotonic() - began)
        if left > 0:
            signal.setitimer(signal.ITIMER_REAL, left)
            return
        for pid in _descendants(os.getpid()):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        pytest.fail(f"still running after {LIMIT:g} s")

    before = set_handler(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        set_handler(signal.SIGALRM, before)


def _descendants(pid):
    listed = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True)
    parents = {
        int(child): int(parent) for child, parent in map(str.split, listed.stdout.splitlines())
    }
    processes = {pid}
    while more := {child for child, parent in parents.items() if parent in processes} - processes:
        processes |= more
    return processes - {pid}


def _use_fixes_of(folder):
    if not _vendored(folder):
        names = ", ".join(f"{family}.py" for family in FAMILIES)
        raise pytest.UsageError(f"--fixes {folder}: expected at least one of {names} there")
    package = types.ModuleType("reference_fixes")
    package.__path__ = [str(folder)]
    sys.modules["reference_fixes"] = package


def _vendored(folder):
    return [family for family in FAMILIES if (Path(folder) / f"{family}.py").is_file()]


def pytest_ignore_collect(collection_path, config):
    """With --fixes, collects only the tests of the vendored families."""
    folder = config.getoption("--fixes")
    if not folder or not collection_path.match("test_*.py"):
        return None
    vendored = _vendored(folder)
    tests = {catalog.TESTS / f"test_{family}.py" for family in vendored}
    if vendored == FAMILIES:
        tests.add(catalog.TESTS / "test_together.py")
    return None if collection_path in tests else True


@pytest.fixture(scope="session")
def device(request):
    return request.config.getoption("--device")


@pytest.fixture(scope="session")
def fix_module():
    """Returns a function: fix_module("amp") imports the reference fix, or the copy in --fixes."""
    return lambda name: importlib.import_module(f"reference_fixes.{name}")


@pytest.fixture
def clone(tmp_path):
    """A new repository with the current files of this repository, including uncommitted changes."""
    folder = tmp_path / "clone"
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=catalog.ROOT, check=True, capture_output=True, text=True)
    for file in filter(None, listed.stdout.split("\0")):
        if (catalog.ROOT / file).is_file():  # not deleted
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(catalog.ROOT / file, folder / file)
    author = ["-c", "user.name=upstream", "-c", "user.email=upstream@example.org"]
    for arguments in (
        ["init", "--quiet"],
        ["add", "--all"],
        [*author, "commit", "--quiet", "--message", "first"],
    ):
        subprocess.run(["git", *arguments], cwd=folder, check=True)
    return folder
