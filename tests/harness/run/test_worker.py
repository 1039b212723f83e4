"""Tests planted reproducers: each gives the expected verdict and leaves nothing behind."""

import importlib.util
import os
import py_compile
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from matrix import catalog
from matrix.run import runner
from matrix.run.worker import build
from matrix.run.worker import child as children
from tests.harness.helpers import RETURNS, plant

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has these means")
# A command line by which pgrep finds only the processes of this test run.
SLEEPER = f"import time; time.sleep(61); {os.getpid()}"


def reproduce(*lines):
    """The code of a reproduce() that runs these lines and then returns the symptom."""
    body = "".join(f"    {line}\n" for line in lines)
    imports = "import os, signal, subprocess, sys, time"
    return f"{imports}\n\n\ndef reproduce(device):\n{body}    return 'boom'\n"


FORGE = """\
import json, os

JOBS = range(1, 40)


def reproduce(device):
    for number in range(3, 64):
        for job in JOBS:
            forged = {"event": "result", "job": job, "outcome": "returned", "value": None}
            for text in (json.dumps(forged), "garbage", '{"event": 1}', "[1]"):
                try:
                    os.write(number, (text + "\\n").encode())
                except OSError:
                    pass
    return "boom"
"""
DAEMON = reproduce(
    "if os.fork() == 0:",
    "    os.setsid()",
    "    if os.fork() == 0:",
    f"        os.execv(sys.executable, [sys.executable, '-c', {SLEEPER!r}])",
    "    os._exit(0)",
    "os.wait()",
)
NO_REPORT = "ended with exit code {} and no report"
PLANTED = {  # id -> (code, header, verdict, detail)
    "reproduced": (RETURNS.format("boom: 3"), {}, "reproduced", "^$"),
    "absent": (RETURNS.format(None), {}, "absent", "^$"),
    "negative_control": (RETURNS.format(None), {"affected": '{ cpu = "never" }'}, "absent", "^$"),
    "other_symptom": (
        RETURNS.format("crash"),
        {},
        "broken",
        "output does not match the symptom regex 'boom': crash",
    ),
    "number": (
        RETURNS.format(7),
        {},
        "broken",
        r"reproduce\(\) returned 7; expected text or None",
    ),
    "dictionary": (
        RETURNS.format({"a": 1}),
        {},
        "broken",
        r"reproduce\(\) returned {'a': 1}; expected text or None",
    ),
    "kills_its_group": (
        reproduce("os.kill(0, signal.SIGTERM)", "time.sleep(9)"),
        {},
        "broken",
        r"reproduce\(\) was killed by SIGTERM",
    ),
    "surrogate": (RETURNS.format("boom \ud800"), {}, "reproduced", "^$"),
    "long_text": (
        "def reproduce(device):\n    return 'boom' * 10**7\n",
        {},
        "reproduced",
        "^$",
    ),
    "raises": (
        "def reproduce(device):\n    raise KeyError('other')\n",
        {},
        "broken",
        r"reproduce\(\) raised KeyError: 'other' \(line 18\)",
    ),
    "raises_control": (
        RETURNS.format("boom") + "\n\ndef control(device):\n    1 / 0\n",
        {},
        "broken",
        r"control\(\) raised ZeroDivisionError",
    ),
    "failing_control": (
        RETURNS.format("boom") + "\n\ndef control(device):\n    return 'boom too'\n",
        {},
        "broken",
        r"control\(\) also fails: boom too",
    ),
    "syntax": ("def reproduce(device):\n    return (\n", {}, "broken", "SyntaxError"),
    "missing_import": (
        "import no_such_module\n\n\ndef reproduce(device):\n    return None\n",
        {},
        "broken",
        "ModuleNotFoundError: No module named 'no_such_module'",
    ),
    "exits": (reproduce("sys.exit(3)"), {}, "broken", r"reproduce\(\) called sys.exit\(3\)"),
    "exits_at_once": (reproduce("os._exit(0)"), {}, "broken", NO_REPORT.format(0)),
    "exits_with_code": (
        reproduce("print('last words', flush=True)", "os._exit(7)"),
        {},
        "broken",
        NO_REPORT.format(7) + ": last words",
    ),
    "segfault": (
        "import ctypes\n\n\ndef reproduce(device):\n    ctypes.string_at(0)\n",
        {},
        "broken",
        r"reproduce\(\) was killed by SIGSEGV in string_at",
    ),
    "kills_itself": (reproduce("os.kill(os.getpid(), 9)"), {}, "broken", "killed by SIGKILL"),
    "hangs": (reproduce("time.sleep(60)"), {"timeout": "1"}, "broken", "still running after 1 s"),
    "ignores_signals": (
        reproduce("signal.signal(signal.SIGTERM, signal.SIG_IGN)", "time.sleep(60)"),
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
        reproduce("os.abort()"),
        {"kind": '"crash"', "symptom": '"SIGSEGV"'},
        "broken",
        "killed by SIGABRT",
    ),
    "claimed_hang": (
        reproduce("time.sleep(60)"),
        {"kind": '"hang"', "symptom": '"still running"', "timeout": "1"},
        "reproduced",
        "^$",
    ),
    "eats_memory": (
        "def reproduce(device):\n    return len(bytearray(900 * 2**20))\n",
        {"memory": "512"},
        "broken",
        r"MemoryError.*\(its limit is 512 MiB\)",
    ),
    "eats_disk": (
        reproduce("open('large', 'wb').truncate(300 * 2**20)"),
        {},
        "broken",
        r"reproduce\(\) was killed by SIGXFSZ: a file grew beyond 256 MiB",
    ),
    "disk_is_full": (
        reproduce("os.symlink('/dev/full', '../report.part')"),
        {},
        "broken",
        f"{NO_REPORT.format(28)}: the disk that holds .* is full",
    ),
    "unreadable_report": (
        reproduce("open('../report.json', 'w').write('[' * 10**5)", "os._exit(0)"),
        {},
        "broken",
        NO_REPORT.format(0),
    ),
    "report_is_a_pipe": (
        reproduce("os.mkfifo('../report.json')", "os._exit(0)"),
        {},
        "broken",
        NO_REPORT.format(0),
    ),
    "foreign_report": (
        reproduce(
            'open("../report.json", "w").write(\'{"outcome": "fine", "self": 1, "event": 2, '
            '"job": 3, "seconds": "x"}\')',
            "os._exit(0)",
        ),
        {},
        "broken",
        "left a report that cannot be read",
    ),
    "endless_frames": (
        reproduce("print('File \"' * 400_000, flush=True)", "os._exit(0)"),
        {},
        "broken",
        NO_REPORT.format(0),
    ),
    "prints_garbage": (
        "def reproduce(device):\n    print('{\"event\": \"result\"}\\n' * 9)\n    return 'boom'\n",
        {},
        "reproduced",
        "^$",
    ),
    "forges_results": (FORGE, {}, "reproduced", "^$"),
    "looks_for_pipes": (  # pipes of the protocol
        reproduce(
            "for number in os.listdir('/proc/self/fd'):",
            "    path = f'/proc/self/fd/{number}'",
            "    assert not (os.path.exists(path) and 'pipe' in os.readlink(path)), number",
        ),
        {},
        "reproduced",
        "^$",
    ),
    "writes_files": (
        reproduce("open('litter', 'w').write('x')"),
        {},
        "broken",
        r"reproduce\(\) left changed: files in the working directory$",
    ),
    "seeds_torch": (
        reproduce("import torch; torch.manual_seed(1)"),
        {},
        "broken",
        r"reproduce\(\) left changed: torch.initial_seed$",
    ),
    "seeds_when_imported": (
        "import random\n\nrandom.seed(0)\n\n\n" + RETURNS.format("boom"),
        {},
        "broken",
        r"reproduce\(\) left changed: the random state of Python$",
    ),
    "control_leaves_a_variable": (
        RETURNS.format("boom")
        + "\n\ndef control(device):\n    import os\n\n    os.environ['X'] = '1'\n",
        {},
        "broken",
        r"control\(\) left changed: os.environ$",
    ),
    "writes_temporary_files": (
        "import tempfile, torch._dynamo\n\n\ndef reproduce(device):\n"
        "    tempfile.mkdtemp(prefix='litter-')\n    return 'boom'\n",
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
    "leaves_a_process": (
        reproduce(f"subprocess.Popen([sys.executable, '-c', {SLEEPER!r}])"),
        {},
        "reproduced",
        "^$",
    ),
    "leaves_a_session": (
        reproduce(f"subprocess.Popen([sys.executable, '-c', {SLEEPER!r}], start_new_session=True)"),
        {},
        "reproduced",
        "^$",
    ),
    "leaves_a_daemon": (DAEMON, {}, "reproduced", "^$"),
    "deep_folders": (
        reproduce("for _ in range(1500): os.mkdir('d'); os.chdir('d')"),
        {},
        "broken",
        r"reproduce\(\) left changed: the working directory$",
    ),
    "never_exits": (
        reproduce("os._exit = lambda code: None"),
        {},
        "reproduced",
        "^$",
    ),
    "traced": (
        "import ctypes, os\n\n\ndef reproduce(device):\n"
        "    ctypes.CDLL(None).ptrace(0, 0, 0, 0)\n    os.kill(os.getpid(), 10)\n",
        {"timeout": "1"},
        "broken",
        "still running after 1 s; killed",
    ),
    "unicode": (RETURNS.format("boom \u2603 \U0001f525"), {}, "reproduced", "^$"),
    "threads": (
        "import torch\n\n\ndef reproduce(device):\n    return f'boom {torch.get_num_threads()}'\n",
        {"symptom": '"^boom 1$"'},
        "reproduced",
        "^$",
    ),
}
LINUX_ALONE = (
    "eats_memory",
    "looks_for_pipes",
    "leaves_a_session",
    "leaves_a_daemon",
    "traced",
)


def run(root, fork=True, names=()):
    reproducers = catalog.select(catalog.load(root), names)
    with runner.Worker(sys.executable, ("cpu",), fork=fork) as interpreter:
        report = runner.run(reproducers, interpreter, ("cpu",))
    return {result.id.split("/")[1]: result for result in report.results}


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    root = tmp_path_factory.mktemp("repros")
    for name, (code, header, _, _) in PLANTED.items():
        plant(root, f"planted/{name}", code, **header)
    return root


@pytest.fixture(scope="module")
def scratch(tmp_path_factory):
    """A temporary folder that no other program uses."""
    folder = tmp_path_factory.mktemp("scratch")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(folder))
        patch.setattr(tempfile, "tempdir", None)
        yield folder


@pytest.fixture(scope="module")
def results(planted, scratch):
    return run(planted)


@pytest.mark.xdist_group("planted")
@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_reproducer_gets_its_own_verdict_and_detail(results, name):
    if name in LINUX_ALONE and sys.platform != "linux":
        pytest.skip("only Linux enforces it")
    _, _, verdict, detail = PLANTED[name]
    result = results[name]
    assert result.verdict == verdict, result
    assert re.search(detail, result.detail), result.detail


@pytest.mark.xdist_group("planted")
def test_texts_are_bounded_and_can_be_written(results):
    assert results["surrogate"].text == "boom \\ud800"
    assert results["unicode"].text == "boom \u2603 \U0001f525"
    assert results["long_text"].text.endswith("... [40000000 characters in all]")
    assert len(results["long_text"].text) < 21_000
    assert "".join(result.text for result in results.values()).encode()


@pytest.mark.xdist_group("planted")
@linux
def test_nothing_of_a_run_is_left_behind(results, scratch):
    assert not os.path.exists("litter")
    assert list(scratch.iterdir()) == []
    command = ["pgrep", "-u", str(os.getuid()), "-f", re.escape(SLEEPER)]
    assert subprocess.run(command, capture_output=True, text=True).stdout == ""


FRESH = (
    "reproduced",
    "segfault",
    "hangs",
    "claimed_hang",
    "threads",
    "eats_disk",
    "disk_is_full",
    "writes_temporary_files",
)


@pytest.mark.xdist_group("fresh")
def test_fresh_interpreters_give_the_same_verdicts(planted, scratch):
    """macOS and Windows use fresh interpreters, because a fork is unsafe there."""
    names = (*FRESH, "leaves_a_daemon") if sys.platform == "linux" else FRESH
    results = run(planted, fork=False, names=tuple(f"planted/{name}" for name in names))
    for name, result in results.items():
        assert result.verdict == PLANTED[name][2]
        assert re.search(PLANTED[name][3], result.detail), result.detail
    assert len(results) == len(names)
    assert list(scratch.iterdir()) == []


ON_CUDA = """\
import os
import sys

import torch


def reproduce(device):
    torch.arange(64).reshape(8, 8).to(device)  # torch starts CUDA
    os.environ.setdefault("CUDA_MODULE_LOADING", "LAZY")  # and older ones do this as they do
    return f"boom {sys.argv[1]}"
"""


@linux
@pytest.mark.parametrize(("asked", "started"), [(False, "fork"), (True, "--one")])
def test_a_run_on_cuda_is_forked_unless_that_would_lose_cuda(root, monkeypatch, asked, started):
    monkeypatch.setenv("STUB_DEVICES", "cpu cuda")
    monkeypatch.delenv("CUDA_MODULE_LOADING", raising=False)
    if asked:
        monkeypatch.setenv("STUB_ASKED_CUDA", "1")
    plant(root, "planted/on_cuda", ON_CUDA, affected='{ cuda = ">=1.13" }')
    with runner.Worker(sys.executable, ("cpu", "cuda")) as interpreter:
        assert interpreter.devices["cuda"]["ok"], interpreter.devices
        (result,) = runner.run(
            catalog.select(catalog.load(root), ()), interpreter, ("cpu", "cuda")
        ).results
    assert (result.verdict, result.text, result.detail) == ("reproduced", f"boom {started}", "")


@linux
@pytest.mark.parametrize("ending", ["return 'boom'", "time.sleep(60)"])
def test_what_a_run_started_may_tidy_up_after_it(root, tmp_path, ending):
    """For example, the resource tracker of multiprocessing cleans up /dev/shm."""
    note = tmp_path / "note"
    tidies = f"echo ready; read line; : > {note}"  # runs once the parent has ended
    pipes = "stdin=subprocess.PIPE, stdout=subprocess.PIPE"
    start = f"reproduce.it = subprocess.Popen(['sh', '-c', {tidies!r}], {pipes})"
    code = reproduce(start, "reproduce.it.stdout.readline()", ending)
    plant(root, "planted/one", code, timeout="1")
    run(root)
    assert note.exists()


def test_a_reproducer_is_read_from_its_source_alone(root, monkeypatch):
    """Python considers a compiled file current if the time in seconds and the size match."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    path = plant(root, "planted/one", RETURNS.format("boom 1"))
    assert run(root)["one"].text == "boom 1"
    assert list(path.parent.iterdir()) == [path]
    py_compile.compile(path, doraise=True)
    before = path.stat()
    path.write_text(path.read_text().replace("boom 1", "boom 2"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run(root)["one"].text == "boom 2"


def test_a_run_on_the_cpu_does_not_see_the_gpus_of_the_machine(root, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    code = reproduce("return f'boom {os.environ[\"CUDA_VISIBLE_DEVICES\"]!r}'")
    plant(root, "planted/one", code)
    assert run(root)["one"].text == "boom ''"


@linux
def test_a_worker_outlives_the_limit_for_importing_torch(root, monkeypatch):
    monkeypatch.setattr(runner, "STARTUP", 2.0)
    plant(root, "planted/one", reproduce("time.sleep(2.5)"))
    result = run(root)["one"]
    assert (result.verdict, result.detail) == ("reproduced", "")


@linux
def test_a_limit_that_the_machine_sets_is_kept(root):
    plant(root, "planted/one", RETURNS.format("boom"))
    command = [sys.executable, "-m", "matrix", "--repros", root, "run", "--device", "cpu"]
    limited = ["sh", "-c", 'ulimit -v 3000000; exec "$@"', "-", *command]
    done = subprocess.run(limited, capture_output=True, text=True, cwd=catalog.ROOT)
    assert done.returncode == 0, done


def as_a_user(action):
    """The exit code of the action, run in a process without root privileges."""
    if (pid := os.fork()) == 0:
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            action()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@linux
def test_folders_of_any_mode_are_removed_and_what_links_name_is_not():
    with tempfile.TemporaryDirectory(dir="/tmp") as place:  # every user can enter /tmp
        os.chmod(place, 0o777)
        folder, kept = Path(place, "scratch"), Path(place, "kept")

        def action():
            (folder / "a/b").mkdir(parents=True)
            kept.mkdir()
            (kept / "file").touch()
            (folder / "a/b/link").symlink_to(kept)
            (folder / "a/file").touch()
            for path in (folder / "a/b", folder / "a", folder):
                path.chmod(0)
            children.remove(folder)
            folder.symlink_to(kept)
            children.remove(folder)

        assert as_a_user(action) == 0
        assert [path.name for path in Path(place).rglob("*")] == ["kept", "file"]


def test_the_time_limit_kills_a_child_that_leads_no_group_yet():
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        child = object.__new__(children.Child)
        child.pid, child.code, child.process = process.pid, None, process
        child.kill()
        assert process.wait(10) == -signal.SIGKILL


def test_a_time_limit_that_is_over_at_once_ends_every_run(root):
    plant(root, "planted/hangs", reproduce("time.sleep(60)"))
    with runner.Worker(sys.executable, ("cpu",), jobs=2) as interpreter:
        reproducers = catalog.load(root) * 100
        report = runner.run(reproducers, interpreter, ("cpu",), timeout=0.00001)
    details = {result.detail for result in report.results}
    assert len(report.results) == 100
    assert all(re.search("still running after 1e-05 s; killed", detail) for detail in details)


@linux
@pytest.mark.skipif(os.geteuid() == 0, reason="root may open everything")
def test_a_child_cannot_open_the_descriptors_of_its_worker(root):
    plant(root, "planted/opens", reproduce("os.listdir(f'/proc/{os.getppid()}/fd')"))
    assert "raised PermissionError" in run(root)["opens"].detail


@linux
def test_a_child_dies_with_its_worker(root, tmp_path):
    note = tmp_path / "pid"
    plant(
        root,
        "planted/kills",
        reproduce(
            f"open({str(note)!r}, 'w').write(str(os.getpid()))",
            "os.kill(os.getppid(), 9)",
            "time.sleep(60)",
        ),
    )
    started = time.monotonic()
    assert run(root)["kills"].detail == "the worker died while reproduce() ran"
    assert not alive(int(note.read_text()))
    assert time.monotonic() - started < 30


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@linux
def test_a_daemon_lives_as_long_as_the_run_that_left_it(root, tmp_path):
    """A run that ends earlier does not end the daemon of another run."""
    check = f"os.path.exists('/proc/' + open({str(tmp_path / 'pid')!r}).read())"
    uses = reproduce(
        "command = ['sh', '-c', 'setsid sleep 62 & echo $!']",
        "daemon = subprocess.Popen(command, stdout=subprocess.PIPE)",
        "pid = daemon.stdout.readline().decode().strip()",
        f"open({str(tmp_path / 'pid')!r}, 'w').write(pid)",
        "time.sleep(1)",
        f"assert {check}",
    )
    plant(root, "planted/a_uses", uses)
    for number in range(5):
        plant(root, f"planted/b_{number}", RETURNS.format("boom"))
    with runner.Worker(sys.executable, ("cpu",), jobs=2) as interpreter:
        report = runner.run(catalog.load(root), interpreter, ("cpu",))
        assert [result.verdict for result in report.results] == ["reproduced"] * 6
        assert not alive(int((tmp_path / "pid").read_text()))


def test_random_numbers_are_fresh_in_each_run(root, tmp_path, monkeypatch):
    """The same holds for numpy, whose random state a fork would copy."""
    numpy, drawn = tmp_path / "path/numpy", tmp_path / "drawn"
    numpy.mkdir(parents=True)
    (numpy / "__init__.py").write_text("__version__ = '0'\nfrom . import random\n")
    seed = "def seed():\n    global state\n    state = os.urandom(9)\n"
    state = "def get_state():\n    return state\n"
    (numpy / "random.py").write_text(f"import os\n\n{seed}\n\n{state}\n\nseed()\n")
    path = os.pathsep.join([str(numpy.parent), os.environ["PYTHONPATH"]])
    monkeypatch.setenv("PYTHONPATH", path)
    draw = f"open({str(drawn)!r}, 'a').write(f'{{random.random()}}\\n{{numpy.random.state}}\\n')"
    for name in ("one", "two"):
        plant(root, f"planted/{name}", f"import numpy, random\n{reproduce(draw)}")
    run(root)
    assert len(set(drawn.read_text().splitlines())) == 4


def test_a_run_that_reported_before_its_time_limit_counts(tmp_path):
    child = object.__new__(children.Child)
    child.pid, child.code, child.process = 2**22 + 1, -9, None  # no process with this id exists
    child.folder, child.timed_out, child.wall = tmp_path, True, 1.0
    (tmp_path / "report.json").write_text('{"outcome": "returned", "value": "boom"}')
    assert child.result(-9) == {"outcome": "returned", "value": "boom", "wall": 1.0}


def test_a_disk_that_is_nearly_full_is_named(tmp_path, monkeypatch):
    usage = SimpleNamespace(free=children.NEARLY_FULL - 1)
    monkeypatch.setattr(children.shutil, "disk_usage", lambda path: usage)
    child = object.__new__(children.Child)
    child.folder, child.output = tmp_path / "scratch/7", tmp_path / "none"
    assert child._no_report(0) == (
        f"ended with exit code 0 and no report: the disk that holds {tmp_path} is full"
    )
    usage.free = children.NEARLY_FULL
    assert child._no_report(0) == "ended with exit code 0 and no report"


def test_only_the_end_of_an_output_is_read(tmp_path):
    output = tmp_path / "output.txt"
    with open(output, "wb") as file:
        file.truncate(2**33)  # sparse
        file.seek(2**33)
        file.write(b'\nFile "/a/b.py", line 3 in crash\nlast')
    child = object.__new__(children.Child)
    child.output = output
    assert child._tail() == " in crash (b.py:3)"


class Backend:
    """The module torch.<device> of a device that the worker does not know."""

    @staticmethod
    def get_device_name():
        return "A1"

    @staticmethod
    def get_device_capability():
        return (9, 0)


@pytest.fixture
def torch(monkeypatch):
    """The stub of torch, imported in this process."""
    path = Path(__file__).parents[1] / "stub/torch/__init__.py"
    spec = importlib.util.spec_from_file_location("torch", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "torch", module)
    return module


def test_what_torch_knows_of_a_device_is_asked_of_its_backend(torch):
    torch.npu = Backend
    torch.backends = SimpleNamespace(cudnn=SimpleNamespace(version=lambda: 91200))
    assert build._about("npu") == {"name": "A1", "capability": "9.0", "cudnn": 91200}
    assert build._about("tpu")["name"] is None  # not the name of the CPU


def test_the_facts_of_a_device_are_what_the_given_commands_print():
    commands = {
        "driver": [sys.executable, "-c", "print(' 535.1 ')"],
        "virtual": [sys.executable, "-c", "print(1)"],
        "missing": ["/no/such/program"],
    }
    assert build._facts(commands) == {"driver": "535.1", "missing": None, "paravirtual": True}
    bare_metal = {"virtual": [sys.executable, "-c", "print(0)"]}
    assert build._facts(bare_metal) == {"paravirtual": False}


@pytest.mark.parametrize("off", [2.0, float("nan")])
def test_a_device_that_computes_nonsense_is_not_available(torch, monkeypatch, off):
    assert build.probe("cpu")["ok"]
    monkeypatch.setattr(torch._Tensor, "max", lambda self: off)
    state = build.probe("cpu")
    assert not state["ok"]
    assert state["reason"] == f"an 8x8 product is off by {off:g}"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc/cpuinfo")
def test_a_processor_is_named_by_its_model_where_the_system_knows_it(monkeypatch):
    text = "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nmodel name\t: Some CPU @ 2.00GHz\n"
    monkeypatch.setattr(Path, "read_text", lambda self, **options: text)
    assert build._processor() == "Some CPU @ 2.00GHz"
    monkeypatch.setattr(Path, "read_text", lambda self, **options: "Features: fp asimd\n")
    assert build._processor() in (build.platform.processor(), build.platform.machine())


def test_a_text_does_not_say_where_the_interpreter_is_installed(root):
    plant(
        root,
        "planted/path",
        "import pytest\n\n\ndef reproduce(device):\n    return pytest.__file__\n",
    )
    with runner.Worker(sys.executable, ("cpu",)) as interpreter:
        (result,) = runner.run(catalog.load(root), interpreter, ("cpu",)).results
    assert result.detail.endswith(os.path.join(" pytest", "__init__.py")), result
