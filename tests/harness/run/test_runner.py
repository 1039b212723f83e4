"""Tests scheduling, the comparison with headers, and processes that die or are not workers."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from matrix import catalog
from matrix.devices import unusable
from matrix.run import runner
from tests.harness.helpers import RETURNS, plant

linux = pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has these means")
KILLS_ITS_WORKER = "import os\n\n\ndef reproduce(device):\n    os.kill(os.getppid(), 9)\n"


def run(root, repeat=1, fork=True, jobs=2, **options):
    with runner.Worker(sys.executable, ("cpu",), jobs=jobs, fork=fork) as worker:
        report = runner.run(catalog.load(root), worker, ("cpu",), repeat, **options)
    return {result.id.split("/")[1]: result for result in report.results}


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    """A temporary folder that no other program uses."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return folder


# --- repeats --------------------------------------------------------------------------------------

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
    results = run(root, repeat=5, jobs=1)
    flaky, steady = results["flaky"], results["steady"]
    assert (flaky.verdict, flaky.agreeing, flaky.runs) == ("flaky", 3, 5)
    assert flaky.detail == "reproduced 3 of 5, else absent"
    assert (steady.verdict, steady.agreeing, steady.runs) == ("reproduced", 5, 5)
    assert flaky.surprise


def test_repeats_do_not_share_hash_seed_or_addresses(root, tmp_path):
    plant(
        root,
        "planted/hash",
        "def reproduce(device):\n    return 'boom' if hash('abc') % 2 else None\n",
    )
    code = (
        "import sys\n\n\ndef reproduce(device):\n"
        f"    open({str(tmp_path / 'ids')!r}, 'a').write(f'{{id(sys.modules)}}\\n')\n"
    )
    plant(root, "planted/address", code)
    assert run(root, repeat=5)["hash"].verdict == "flaky"
    assert len(set((tmp_path / "ids").read_text().split())) == 5


@pytest.mark.parametrize("fork", [True, False])
def test_each_repeat_has_one_process_whose_hash_seed_is_its_number(root, tmp_path, fork):
    code = (
        "import os\n\n\ndef reproduce(device):\n"
        f"    with open({str(tmp_path / 'seeds')!r}, 'a') as file:\n"
        "        file.write(f'{os.getppid()} {os.environ[\"PYTHONHASHSEED\"]}\\n')\n"
    )
    plant(root, "planted/one", code)
    plant(root, "planted/two", code)
    run(root, repeat=3, fork=fork)
    pairs = [tuple(line.split()) for line in (tmp_path / "seeds").read_text().splitlines()]
    assert len(pairs) == 6
    assert len(set(pairs)) == 3
    assert {seed for _, seed in pairs} == {"1", "2", "3"}


def test_no_more_jobs_than_slots_are_under_way_over_all_processes(root, tmp_path):
    marks = tmp_path / "marks"
    marks.mkdir()
    code = (
        "import os, time\n\n\ndef reproduce(device):\n"
        f"    mark = os.path.join({str(marks)!r}, str(os.getpid()))\n"
        "    os.mkdir(mark)\n"
        f"    count = len(os.listdir({str(marks)!r}))\n"
        f"    open({str(tmp_path / 'counts')!r}, 'a').write(f'{{count}}\\n')\n"
        "    time.sleep(0.1)\n"
        "    os.rmdir(mark)\n"
    )
    for name in "abcd":
        plant(root, f"planted/{name}", code)
    run(root, repeat=3, jobs=2)
    counts = [int(count) for count in (tmp_path / "counts").read_text().split()]
    assert len(counts) == 12
    assert max(counts) == 2


def test_a_result_arrives_as_soon_as_its_last_run_has_ended(root):
    for number in range(4):
        plant(root, f"planted/r{number}", RETURNS.format("boom"))
    events = []
    run(
        root,
        repeat=2,
        jobs=1,
        progress=lambda done, total: events.append((done, total)),
        on_result=lambda result: events.append(result.id),
    )
    results = [events[place + 1] for place, event in enumerate(events) if isinstance(event, str)]
    assert results == [(4, 16), (8, 16), (12, 16), (16, 16)]


# --- against the headers --------------------------------------------------------------------------

HELPS, STAYS, FAILS = "return None", "return 'still there'", "raise KeyError('x')"
EXPECTATIONS = {  # id -> (the value of reproduce(), affected, popular_fix or None, surprise)
    "as_expected": ("boom", ">=1.13", None, ""),
    "should_never": ("boom", "never", None, "reproduced, but its header says absent"),
    "should_not_yet": ("boom", ">=99", None, "reproduced, but its header says absent"),
    "absent_as_expected": (None, ">=99", None, ""),
    "vanished": (None, ">=1.13", None, "absent, but its header says reproduced"),
    "broken_not_reproduced": ("thud", ">=1.13", None, "broken, but its header says reproduced"),
    "broken_not_absent": ("thud", "never", None, "broken, but its header says absent"),
    "fix_does_not_help": ("boom", ">=1.13", STAYS, ""),
    "fix_helps": ("boom", ">=1.13", HELPS, "popular_fix helps here, but the header says"),
    "fix_fails": ("boom", ">=1.13", FAILS, "popular_fix() raised KeyError"),
    "fix_not_judged_where_absent": (None, "never", HELPS, ""),
}


@pytest.fixture(scope="module")
def surprises(tmp_path_factory):
    root = tmp_path_factory.mktemp("repros")
    for name, (seen, affected, body, _) in EXPECTATIONS.items():
        popular_fix = f"\n\ndef popular_fix(device):\n    {body}\n" if body else ""
        code = RETURNS.format(seen) + popular_fix
        plant(root, f"planted/{name}", code, affected=f'{{ cpu = "{affected}" }}')
    return run(root)


@pytest.mark.xdist_group("surprises")
@pytest.mark.parametrize("name", EXPECTATIONS)
def test_a_difference_from_the_header_is_reported_in_either_direction(surprises, name):
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


def test_an_unusable_device_is_unavailable_with_the_probes_reason(root, monkeypatch):
    plant(
        root, "planted/one", RETURNS.format("boom"), affected='{ cpu = ">=1.13", mps = ">=1.13" }'
    )
    monkeypatch.setenv("STUB_DEVICES", "cpu")
    with runner.Worker(sys.executable, ("cpu", "mps")) as worker:
        on_cpu, on_mps = runner.run(catalog.load(root), worker, ("cpu", "mps")).results
        reason = worker.devices["mps"]["reason"]
    assert on_cpu.verdict == "reproduced"
    assert on_mps.verdict == "unavailable"
    assert reason == "AssertionError: the stub has no mps"
    assert on_mps.detail == unusable("mps", reason)


def test_a_device_has_its_own_name_or_none(monkeypatch):
    monkeypatch.setenv("STUB_DEVICES", "cpu mps")
    with runner.Worker(sys.executable, ("mps",)) as worker:
        state = worker.devices["mps"]
    assert state["ok"]
    assert state["name"] is None or sys.platform == "darwin"
    assert "paravirtual" in state


def test_reproducers_may_be_named_by_a_relative_folder(root, monkeypatch):
    plant(root, "planted/one", RETURNS.format("boom"))
    monkeypatch.chdir(root.parent)
    assert run(Path("repros"))["one"].verdict == "reproduced"


# --- deaths ---------------------------------------------------------------------------------------


@linux
@pytest.mark.parametrize("jobs", [1, 2])
def test_the_death_of_a_worker_costs_the_run_that_caused_it_alone(root, scratch, jobs):
    plant(root, "planted/good_a", RETURNS.format("boom"))
    plant(root, "planted/kills", KILLS_ITS_WORKER)
    for name in ("good_b", "good_c"):
        plant(root, f"planted/{name}", "import time\n\n" + RETURNS.format("boom"))
    results = run(root, jobs=jobs)
    kills = results.pop("kills")
    assert (kills.verdict, kills.detail) == ("broken", "the worker died while reproduce() ran")
    assert {result.verdict for result in results.values()} == {"reproduced"}
    assert len(results) == 3
    assert list(scratch.iterdir()) == []


@linux
def test_a_worker_that_is_killed_from_outside_is_replaced(root, scratch):
    """The kernel kills a worker in the same way if memory runs out."""
    for number in range(8):
        slow = "import time\n\n\ndef reproduce(device):\n    time.sleep(0.1)\n    return 'boom'\n"
        plant(root, f"planted/r{number}", slow)
    with runner.Worker(sys.executable, ("cpu",), jobs=2) as worker:
        killer = threading.Timer(0.25, worker.processes[0].kill)
        killer.start()
        report = runner.run(catalog.load(root), worker, ("cpu",))
    assert [result.verdict for result in report.results] == ["reproduced"] * 8
    assert list(scratch.iterdir()) == []


@linux
def test_a_worker_that_is_stopped_counts_as_dead(root, monkeypatch, scratch):
    monkeypatch.setattr(runner, "GRACE", 0.5)
    code = (
        "import os, signal\n\n\ndef reproduce(device):\n    os.kill(os.getppid(), signal.SIGSTOP)\n"
    )
    plant(root, "planted/stops", code, timeout="0.5")
    plant(root, "planted/good", RETURNS.format("boom"))
    results = run(root, jobs=1)
    assert results["stops"].detail == "the worker died while reproduce() ran"
    assert results["good"].verdict == "reproduced"
    assert list(scratch.iterdir()) == []


@linux
def test_many_deaths_in_a_row_end_the_run_with_a_clear_error(root, scratch):
    for number in range(runner.DEATHS + 1):
        kills = (
            KILLS_ITS_WORKER
            + "\n\ncontrol = reproduce\n\n\ndef control(device):\n    reproduce(device)\n"
        )
        plant(root, f"planted/kills_{number}", kills)
    with pytest.raises(
        runner.RunnerError, match=r"6 workers died one after another, .*\(\) of planted"
    ):
        run(root, jobs=1)
    assert list(scratch.iterdir()) == []


@linux
def test_deaths_count_only_where_no_run_ends_in_between(root, monkeypatch):
    monkeypatch.setattr(runner, "DEATHS", 1)
    for number in range(3):
        plant(root, f"planted/kills_{number}", KILLS_ITS_WORKER)
    details = {result.detail for result in run(root, jobs=1).values()}
    assert details == {"the worker died while reproduce() ran"}


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


DRIVER = """
import sys
from pathlib import Path
from matrix import catalog
from matrix.run import runner
with runner.Worker(sys.executable, ("cpu",)) as worker:
    runner.run(catalog.load(Path(sys.argv[1])), worker, ("cpu",))
"""


def wait_until(true, seconds=60):
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@linux
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_when_the_driver_dies_so_do_its_children(root, scratch, tmp_path, ending):
    pids = tmp_path / "pids"
    code = (
        "import os, time\n\n\ndef reproduce(device):\n"
        f"    open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{os.getppid()}}')\n"
        "    time.sleep(60)\n"
    )
    plant(root, "planted/hangs", code, timeout="50")
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, root], stderr=subprocess.PIPE)
    wait_until(lambda: pids.exists() and pids.read_text())
    driver.send_signal(ending)
    driver.communicate()
    with contextlib.suppress(ProcessLookupError):  # a signal during the cleanup has no effect
        os.kill(int(pids.read_text().split()[1]), signal.SIGTERM)
    wait_until(lambda: not any(alive(int(pid)) for pid in pids.read_text().split()))
    wait_until(lambda: not list(scratch.iterdir()))


# --- interpreters ---------------------------------------------------------------------------------


def fake_torch(folder, text):
    (folder / "fake/torch").mkdir(parents=True)
    (folder / "fake/torch/__init__.py").write_text(text)
    return str(folder / "fake")


@pytest.mark.parametrize(
    ("python", "text"),
    [
        ("/no/such/python", "cannot start /no/such/python: No such file"),
        (shutil.which("false"), "false: exit code 1"),
        (shutil.which("echo"), r"exit code 0, after it printed '.*expected a Python interpreter"),
        (shutil.which("cat"), r"cat: .*, after it printed '.*expected a Python interpreter"),
        (shutil.which("yes"), "yes: printed more than 64 kB; expected a Python"),
    ],
)
def test_what_is_no_interpreter_is_one_clear_error(python, text, scratch):
    started = time.monotonic()
    with pytest.raises(runner.RunnerError, match=text):
        runner.Worker(python, ("cpu",))
    assert time.monotonic() - started < 10
    assert list(scratch.iterdir()) == []


def test_a_program_that_never_answers_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "STARTUP", 0.5)
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    with pytest.raises(runner.RunnerError, match=r"python: importing torch took longer than 0.5 s"):
        runner.Worker(str(script), ("cpu",))


@linux
@pytest.mark.parametrize(
    ("traceback", "module"),
    [
        ("", "__main__.py"),
        ('Traceback (most recent call last):\n  File "x.py", line 1, in _load\n', "server.py"),
    ],
)
def test_an_interpreter_that_is_too_old_is_told_so(tmp_path, traceback, module):
    error = tmp_path / "error"
    line = f'  File "{runner.WORKER.parent / module}", line 34'
    error.write_text(f"{traceback}{line}\n    if (pid := 1):\nSyntaxError: invalid syntax\n")
    script = tmp_path / "python"
    script.write_text(f"#!/bin/sh\ncat {error} >&2; exit 1")
    script.chmod(0o755)
    with pytest.raises(runner.RunnerError, match=r"/python: needs Python 3\.8 or newer$"):
        runner.Worker(str(script), ("cpu",))


def test_a_torch_that_python_cannot_parse_is_no_matter_of_its_version(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", fake_torch(tmp_path, "if:\n"))
    with pytest.raises(runner.RunnerError, match="SyntaxError: invalid syntax"):
        runner.Worker(sys.executable, ("cpu",))


@linux
def test_the_time_for_importing_torch_is_what_the_variable_says(tmp_path, monkeypatch):
    monkeypatch.setenv("TORCH_REPROS_STARTUP", "0.5")
    script = tmp_path / "python"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    with pytest.raises(
        runner.RunnerError,
        match=r"importing torch took longer than 0.5 s; TORCH_REPROS_STARTUP=600 allows 600$",
    ):
        runner.Worker(str(script), ("cpu",))


@pytest.mark.parametrize("value", ["soon", "0", "-1", "nan", "inf"])
def test_a_time_for_importing_torch_that_is_none_is_one_clear_error(monkeypatch, value):
    monkeypatch.setenv("TORCH_REPROS_STARTUP", value)
    with pytest.raises(runner.RunnerError, match=f"TORCH_REPROS_STARTUP: .* found '{value}'"):
        runner.Worker(sys.executable, ("cpu",))


def test_a_worker_that_was_killed_has_time_to_end_before_it_is_killed_again():
    class Silent:
        """A worker that never answers, and reports its end only at the second check."""

        slots, fork, processes = 1, True, []

        def __init__(self):
            self.kills, self.deadlines = 0, []

        def start(self, place, request):
            return self, 1

        def kill(self):
            self.kills += 1

        def receive(self, deadline):
            self.deadlines.append(deadline)
            if len(self.deadlines) == 3:
                return self, {"job": 1, "outcome": "returned", "value": None}
            return None

    silent = Silent()
    job = runner.Job(None, "reproduce", 0, {"device": "cpu", "timeout": -runner.GRACE})
    list(runner.Schedule(silent, [job]).outcomes())
    first, second, third = silent.deadlines
    assert second == third == first + runner.GRACE
    assert silent.kills == 1


@linux
def test_what_a_script_for_an_interpreter_started_ends_with_it(
    root, tmp_path, monkeypatch, scratch
):
    plant(root, "planted/one", RETURNS.format("boom"))
    script = tmp_path / "python"

    def worker(*lines):
        script.write_text("\n".join(["#!/bin/sh", "sleep 63 & echo $! > ${0%/*}/pid", *lines]))
        script.chmod(0o755)
        return runner.Worker(str(script), ("cpu",))

    with worker(f'{sys.executable} "$@"; exit') as started:
        (result,) = runner.run(catalog.load(root), started, ("cpu",)).results
    assert result.verdict == "reproduced"
    wait_until(lambda: not alive(int((tmp_path / "pid").read_text())))
    monkeypatch.setattr(runner, "STARTUP", 0.5)
    with pytest.raises(runner.RunnerError, match="took longer"):
        worker("wait")
    wait_until(lambda: not alive(int((tmp_path / "pid").read_text())))
    assert list(scratch.iterdir()) == []


def test_no_temporary_folder_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/folder")
    with pytest.raises(runner.RunnerError, match="python: No such file or directory"):
        runner.Worker("python", ("cpu",))


@linux
def test_deep_folders_of_a_run_that_killed_its_worker_are_removed(root, scratch):
    deep = "    for _ in range(1500):\n        os.mkdir('d')\n        os.chdir('d')\n"
    code = KILLS_ITS_WORKER.replace("    os.kill", f"{deep}    os.kill")
    plant(root, "planted/deep", code)
    assert run(root)["deep"].detail == "the worker died while reproduce() ran"
    assert list(scratch.iterdir()) == []


def test_an_interpreter_without_torch_is_one_clear_error(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONPATH")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    with pytest.raises(
        runner.RunnerError, match="No module named 'torch'; with --python PATH, name an .*"
    ):
        runner.Worker(str(tmp_path / "venv/bin/python"), ("cpu",))


@linux
def test_an_import_of_torch_that_hangs_ends_with_an_error_and_the_process(tmp_path, monkeypatch):
    note = tmp_path / "pid"
    code = f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    monkeypatch.setenv("PYTHONPATH", fake_torch(tmp_path, code))
    monkeypatch.setattr(runner, "STARTUP", 2.0)
    with pytest.raises(runner.RunnerError, match="importing torch took longer than 2 s"):
        runner.Worker(sys.executable, ("cpu",))
    assert not alive(int(note.read_text()))


@linux
def test_a_worker_that_imports_torch_ends_with_its_driver(root, tmp_path, monkeypatch):
    note = tmp_path / "pid"
    code = f"import os, time\nopen({str(note)!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    plant(root, "planted/one", RETURNS.format("boom"))
    path = os.pathsep.join([fake_torch(tmp_path, code), os.environ["PYTHONPATH"]])
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, root], env={**os.environ, "PYTHONPATH": path}
    )
    wait_until(lambda: note.exists() and note.read_text())
    driver.kill()
    driver.wait()
    wait_until(lambda: not alive(int(note.read_text())), seconds=10)


def test_an_interpreter_that_prints_at_start_is_no_matter(root, tmp_path, monkeypatch):
    plant(root, "planted/one", RETURNS.format("boom"))
    (tmp_path / "sitecustomize.py").write_text("print('hello')\nprint('{\"event\": \"build\"}')\n")
    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    monkeypatch.setenv("PYTHONPATH", path)
    assert run(root)["one"].verdict == "reproduced"


def test_the_worker_removes_no_path_but_its_own(monkeypatch):
    """If Python does not add the script's folder to the path, the first entry is the user's."""
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setenv("STUB_TORCH", "2.9.0+first")
    with runner.Worker(sys.executable, ("cpu",)) as worker:
        assert worker.build["torch"] == "2.9.0+first"


def test_modules_beside_the_worker_do_not_shadow_the_standard_librarys(root):
    code = (
        "import sys\n\n\ndef reproduce(device):\n"
        "    return 'boom' if any(path.endswith('/run') for path in sys.path) else None\n"
    )
    plant(root, "planted/one", code)
    assert run(root)["one"].verdict == "absent"


def test_interruption_keeps_what_was_measured(root, scratch):
    for number in range(5):
        plant(root, f"planted/r{number}", RETURNS.format("boom"))

    def interrupt(done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(runner.Interrupted, match="3 of 5 not run") as caught:
        run(root, jobs=1, progress=interrupt)
    assert [result.id for result in caught.value.report.results] == ["planted/r0", "planted/r1"]
    assert isinstance(caught.value, KeyboardInterrupt)
    assert list(scratch.iterdir()) == []


def test_many_repeats_share_a_bounded_number_of_processes(root, monkeypatch):
    monkeypatch.setattr(runner, "PROCESSES", 3)
    plant(root, "planted/one", RETURNS.format("boom"))
    with runner.Worker(sys.executable, ("cpu",)) as worker:
        (result,) = runner.run(catalog.load(root), worker, ("cpu",), repeat=8).results
        assert len(worker.processes) == 3
    assert (result.verdict, result.agreeing, result.runs) == ("reproduced", 8, 8)
