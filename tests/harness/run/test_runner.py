"""Planted reproducers: each ends in its own verdict and detail, and the run goes on."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest
from planted import plant

from matrix import catalog, runner

RETURNS = "def reproduce(device):\n    return {!r}\n"

PLANTED = {  # id -> (code, header, verdict, detail or text)
    "reproduced": (RETURNS.format("boom: 3"), {}, "reproduced", "^$"),
    "absent": (RETURNS.format(None), {}, "absent", "^$"),
    "negative_control": (RETURNS.format(None), {"affected": '{ cpu = "never" }'}, "absent", "^$"),
    "other_symptom": (
        RETURNS.format("crash"),
        {},
        "broken",
        r"the text seen does not match its symptom 'boom': crash",
    ),
    "number": (RETURNS.format(7), {}, "broken", r"reproduce\(\) returned 7; expected text or None"),
    "raises": (
        "def reproduce(device):\n    raise KeyError('other')\n",
        {},
        "broken",
        r"reproduce\(\) raised KeyError: 'other' \(line 16\)",
    ),
    "raises_control": (
        RETURNS.format("boom") + "\n\ndef control(device):\n    1 / 0\n",
        {},
        "broken",
        r"control\(\) raised ZeroDivisionError",
    ),
    "sick_control": (
        RETURNS.format("boom") + "\n\ndef control(device):\n    return 'boom too'\n",
        {},
        "broken",
        r"control\(\) shows a symptom too: boom too",
    ),
    "syntax": ("def reproduce(device):\n    return (\n", {}, "broken", "SyntaxError"),
    "missing_import": (
        "import no_such_module\n\n\ndef reproduce(device):\n    return None\n",
        {},
        "broken",
        "ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "exits": (
        "import sys\n\n\ndef reproduce(device):\n    sys.exit(3)\n",
        {},
        "broken",
        r"reproduce\(\) called sys.exit\(3\)",
    ),
    "exits_at_once": (
        "import os\n\n\ndef reproduce(device):\n    os._exit(0)\n",
        {},
        "broken",
        "ended with exit code 0 and no report",
    ),
    "exits_with_code": (
        "import os\n\n\ndef reproduce(device):\n    print('last words', flush=True)\n    os._exit(7)\n",
        {},
        "broken",
        "ended with exit code 7 and no report: last words",
    ),
    "segfault": (
        "import ctypes\n\n\ndef reproduce(device):\n    ctypes.string_at(0)\n",
        {},
        "broken",
        r"reproduce\(\) was killed by SIGSEGV in string_at",
    ),
    "kills_itself": (
        "import os\n\n\ndef reproduce(device):\n    os.kill(os.getpid(), 9)\n",
        {},
        "broken",
        "killed by SIGKILL",
    ),
    "hangs": (
        "import time\n\n\ndef reproduce(device):\n    time.sleep(60)\n",
        {"timeout": "1"},
        "broken",
        "still running after 1 s; killed",
    ),
    "ignores_signals": (
        "import signal, time\n\n\ndef reproduce(device):\n    signal.signal(signal.SIGTERM, signal.SIG_IGN)\n    time.sleep(60)\n",
        {"timeout": "1"},
        "broken",
        "still running after 1 s; killed",
    ),
    "claimed_crash": (
        "import ctypes\n\n\ndef reproduce(device):\n    ctypes.string_at(0)\n",
        {"kind": '"crash"', "symptom": '"SIGSEGV"'},
        "reproduced",
        "^$",
    ),
    "other_crash": (
        "import os\n\n\ndef reproduce(device):\n    os.abort()\n",
        {"kind": '"crash"', "symptom": '"SIGSEGV"'},
        "broken",
        "killed by SIGABRT",
    ),
    "claimed_hang": (
        "import time\n\n\ndef reproduce(device):\n    time.sleep(60)\n",
        {"kind": '"hang"', "symptom": '"still running"', "timeout": "3"},
        "reproduced",
        "^$",
    ),
    "eats_memory": (
        "import torch\n\n\ndef reproduce(device):\n    return str(torch.ones(600, 2**20).sum())\n",
        {"memory": "512"},
        "broken",
        r"can't allocate memory.*\(its limit is 512 MiB\)",
    ),
    "eats_python_memory": (
        "def reproduce(device):\n    return len(bytearray(900 * 2**20))\n",
        {"memory": "512"},
        "broken",
        r"MemoryError.*\(its limit is 512 MiB\)",
    ),
    "prints_garbage": (
        "def reproduce(device):\n    print('{\"event\": \"result\"}\\n' * 9)\n    return 'boom'\n",
        {},
        "reproduced",
        "^$",
    ),
    "writes_files": (
        "def reproduce(device):\n    open('litter', 'w').write('x')\n    return 'boom'\n",
        {},
        "reproduced",
        "^$",
    ),
    "needs_future": (
        RETURNS.format("boom"),
        {"requires": '">=99"'},
        "unavailable",
        "needs torch >=99; this is ",
    ),
    "needs_other_system": (
        RETURNS.format("boom"),
        {"platform": '"amiga"'},
        "unavailable",
        "needs amiga; this is ",
    ),
    "daemon": (
        "import subprocess, sys\n\n\ndef reproduce(device):\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n    return 'boom'\n",
        {},
        "reproduced",
        "^$",
    ),
    "unicode": (RETURNS.format("boom \u2603 \U0001f525"), {}, "reproduced", "^$"),
    "threads": (
        "import torch\n\n\ndef reproduce(device):\n    return f'boom {torch.get_num_threads()}'\n",
        {"symptom": '"^boom 1$"'},
        "reproduced",
        "^$",
    ),
}


def run(root, fork=True, repeat=1, names=(), **options):
    entries = catalog.select(catalog.load(root), names)
    with runner.Worker(sys.executable, ("cpu",), fork=fork) as worker:
        report = runner.run(entries, worker, ("cpu",), repeat, **options)
    return {result.id.split("/")[1]: result for result in report.results}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    root = tmp_path_factory.mktemp("repros")
    for name, (code, header, _, _) in PLANTED.items():
        plant(root, f"planted/{name}", code, **header)
    return root


@pytest.fixture(scope="module")
def results(planted):
    return run(planted)


@pytest.mark.xdist_group("planted")
@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_reproducer_gets_its_own_verdict_and_detail(results, name):
    if name in ("eats_memory", "eats_python_memory") and sys.platform != "linux":
        pytest.skip("only Linux enforces a memory limit")
    _, _, verdict, detail = PLANTED[name]
    result = results[name]
    assert result.verdict == verdict, result
    assert re.search(detail, result.detail), result.detail


@pytest.mark.xdist_group("planted")
def test_nothing_of_a_run_is_left_behind(results):
    assert not os.path.exists("litter")
    command = ["pgrep", "-u", str(os.getuid()), "-f", "import time; time.sleep(60)"]
    assert subprocess.run(command, capture_output=True, text=True).stdout == ""


@pytest.mark.xdist_group("fresh")
def test_fresh_interpreters_give_the_same_verdicts(planted):
    """As on macOS and Windows, where a fork is unsafe."""
    names = ("reproduced", "segfault", "hangs", "claimed_hang", "threads")
    results = run(planted, fork=False, names=tuple(f"planted/{name}" for name in names))
    assert {name: result.verdict for name, result in results.items()} == {
        name: PLANTED[name][2] for name in names
    }
    assert "killed by SIGSEGV" in results["segfault"].detail
    assert (
        "still running after 1 s" in results["hangs"].detail
    )  # the time that importing torch takes is not counted


SOMETIMES = """\
import os


def reproduce(device):
    # every other run: the runs of one reproducer share nothing but the disk
    try:
        os.mkdir({folder!r})
    except FileExistsError:
        os.rmdir({folder!r})
        return None
    return "boom"
"""


def test_runs_that_disagree_are_flaky_with_their_counts(root, tmp_path):
    plant(root, "planted/flaky", SOMETIMES.format(folder=str(tmp_path / "marker")))
    plant(root, "planted/steady", RETURNS.format("boom"))
    with runner.Worker(sys.executable, ("cpu",), jobs=1) as worker:
        flaky, steady = runner.run(catalog.load(root), worker, ("cpu",), 5).results
    assert (flaky.verdict, flaky.agreeing, flaky.runs) == ("flaky", 3, 5)
    assert flaky.detail == "reproduced 3 of 5, else absent"
    assert (steady.verdict, steady.agreeing, steady.runs) == ("reproduced", 5, 5)
    assert flaky.surprise


HELPS, STAYS, FAILS = "return None", "return 'still there'", "raise KeyError('x')"
EXPECTATIONS = {  # id -> (what reproduce() returns, affected, body of popular_fix or None, start of the surprise)
    "as_expected": ("boom", ">=1.13", None, ""),
    "should_never": ("boom", "never", None, "reproduced, but its header says absent"),
    "should_not_yet": ("boom", ">=99", None, "reproduced, but its header says absent"),
    "absent_as_expected": (None, ">=99", None, ""),
    "vanished": (None, ">=1.13", None, "absent, but its header says reproduced"),
    "broken_not_reproduced": ("thud", ">=1.13", None, "broken, but its header says reproduced"),
    "broken_not_absent": ("thud", "never", None, "broken, but its header says absent"),
    "fix_does_not_help": ("boom", ">=1.13", STAYS, ""),
    "fix_helps": ("boom", ">=1.13", HELPS, "popular_fix leaves no symptom"),
    "fix_fails": ("boom", ">=1.13", FAILS, "popular_fix: raised KeyError"),
    "fix_not_judged_where_absent": (None, "never", HELPS, ""),
}


@pytest.fixture(scope="module")
def surprises(tmp_path_factory):
    root = tmp_path_factory.mktemp("repros")
    for name, (seen, affected, body, _) in EXPECTATIONS.items():
        popular_fix = f"\n\ndef popular_fix(device):\n    {body}\n" if body else ""
        plant(
            root,
            f"planted/{name}",
            RETURNS.format(seen) + popular_fix,
            affected=f'{{ cpu = "{affected}" }}',
        )
    return run(root)


@pytest.mark.xdist_group("surprises")
@pytest.mark.parametrize("name", EXPECTATIONS)
def test_a_difference_from_the_header_is_red_in_either_direction(surprises, name):
    surprise = EXPECTATIONS[name][3]
    assert surprises[name].surprise.startswith(surprise)
    assert bool(surprises[name].surprise) is bool(surprise)


@pytest.mark.xdist_group("surprises")
def test_the_symptom_that_a_popular_fix_leaves_is_kept(surprises):
    left = {name: surprises[name].popular_fix for name in EXPECTATIONS if name.startswith("fix_")}
    assert left == {
        "fix_does_not_help": "still there",
        "fix_helps": "",
        "fix_fails": None,
        "fix_not_judged_where_absent": None,
    }


def test_an_unusable_device_is_unavailable_with_the_probes_reason(root):
    plant(
        root, "planted/one", RETURNS.format("boom"), affected='{ cpu = ">=1.13", mps = ">=1.13" }'
    )
    with runner.Worker(sys.executable, ("cpu", "mps")) as worker:
        if worker.devices["mps"]["ok"]:
            pytest.skip("this machine has MPS")
        on_cpu, on_mps = runner.run(catalog.load(root), worker, ("cpu", "mps")).results
    assert on_cpu.verdict == "reproduced"
    assert on_mps.verdict == "unavailable"
    assert on_mps.detail == f"no usable mps here: {worker.devices['mps']['reason']}"
    assert worker.devices["mps"]["reason"]


@pytest.mark.parametrize(
    ("python", "text"),
    [
        ("/no/such/python", "cannot start /no/such/python: No such file"),
        (shutil.which("false"), "false: exit code 1"),
    ],
)
def test_an_unusable_interpreter_is_one_clear_error(python, text):
    with pytest.raises(runner.RunnerError, match=text):
        runner.Worker(python, ("cpu",))


def test_an_interpreter_without_torch_is_one_clear_error(tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    with pytest.raises(runner.RunnerError, match="No module named 'torch'"):
        runner.Worker(str(tmp_path / "venv/bin/python"), ("cpu",))


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().split()[2] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_when_the_driver_dies_so_do_its_children(root, tmp_path, ending):
    pids = tmp_path / "pids"
    code = (
        "import os, time\n\n\ndef reproduce(device):\n"
        f"    open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{os.getppid()}}')\n    time.sleep(60)\n"
    )
    plant(root, "planted/hangs", code, timeout="50")
    driver = subprocess.Popen(
        [sys.executable, "-m", "matrix", "--repros", root, "run", "--device", "cpu"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not (pids.exists() and pids.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    driver.send_signal(ending)
    driver.communicate()
    processes = [int(pid) for pid in pids.read_text().split()]
    while any(alive(pid) for pid in processes):
        assert time.monotonic() < deadline, processes
        time.sleep(0.05)
