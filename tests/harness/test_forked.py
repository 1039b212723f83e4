"""Runs programs in the processes that tests/forked.py forks, with the stub in place of torch."""

import os
import signal
import subprocess
import sys
import time

import pytest

from matrix import catalog
from tests import forked
from tests.forked import Job, run_all

pytestmark = pytest.mark.skipif(not forked.can_fork("cpu"), reason="Windows cannot fork")


@pytest.fixture(autouse=True)
def own_server(monkeypatch):
    """A server that has the stub, which no other test may use."""
    servers = []
    monkeypatch.setattr(forked, "_servers", servers)
    yield servers
    for server in servers:
        server.kill()
        server.wait()
        server.stdin.close()
        server.stdout.close()


@pytest.fixture
def job(tmp_path):
    """A function that makes the job of a program."""

    def make(source, **options):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.py"
        path.write_text(source)
        return Job([str(path)], str(tmp_path), 5.0, **options)

    return make


@pytest.mark.parametrize(
    ("source", "status", "output"),
    [
        ("print('here')", 0, "here\n"),
        ("import sys; sys.exit(7)", 7, ""),
        ("import sys; sys.exit(2**40 + 7)", 7, ""),
        ("import sys; print('first'); sys.exit('why')", 1, "first\nwhy\n"),
        ("import os, signal; print('first'); os.kill(os.getpid(), signal.SIGABRT)", -6, "first\n"),
        ("import sys; print('first'); sys.stdout.close()", 0, "first\n"),
        ("import sys; sys.stdout = None", 0, ""),
        ("import sys; sys.stderr = sys.stdout = None; 1 / 0", 1, ""),
        ("import sys; print(repr(sys.stdin.read()))", 0, "''\n"),
    ],
)
def test_a_program_ends_as_it_would_in_an_interpreter_of_its_own(job, source, status, output):
    assert run_all([job(source)])[1] == [(status, output)]


def test_a_program_that_raises_prints_its_traceback_alone(job):
    ((status, output),) = run_all([job("import sys; sys.stdout = None; 1 / 0")])[1]
    assert status == 1
    assert output.count("Traceback") == 1
    assert output.endswith("ZeroDivisionError: division by zero\n")


def test_the_answers_have_the_order_of_the_jobs_and_one_process_gives_all(job, own_server):
    jobs = [job(f"import time; time.sleep(0.1 * ({n} == 0)); print({n})") for n in range(5)]
    for _ in range(2):
        torch, ended = run_all(jobs)
        assert torch.endswith("+stub")
        assert ended == [(0, f"{n}\n") for n in range(5)]
    assert len(own_server) == 1
    assert run_all([])[1] == []


def test_after_a_failure_the_rest_of_its_group_is_not_run(job):
    jobs = [job("1 / 0", group="a"), *(job("print(1)", group=group) for group in ("a", "a", "b"))]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("matrix.run.runner.cores", lambda: 1)
        (status, _), *rest = run_all(jobs)[1]
    assert status == 1
    assert rest == [(0, "not run"), (0, "not run"), (0, "1\n")]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
def test_a_program_has_no_pipe_of_the_server(job):
    """A process that it leaves behind would keep the pipe open, so that nobody sees its end."""
    listing = "import os\nfor n in os.listdir('/proc/self/fd'):\n"
    listing += (
        "    if os.path.lexists(f'/proc/self/fd/{n}'): print(os.readlink(f'/proc/self/fd/{n}'))"
    )
    ((status, output),) = run_all([job(listing)])[1]
    assert status == 0
    assert "/dev/null" in output
    assert "pipe" not in output


def test_an_interrupted_call_leaves_no_answer_for_the_next_call(job):
    def interrupt(*_):
        raise InterruptedError

    pytest_own = signal.signal(signal.SIGALRM, interrupt), signal.setitimer(signal.ITIMER_REAL, 0.5)
    try:
        with pytest.raises(InterruptedError):
            run_all([job("import time; time.sleep(1); print('first')")])
    finally:
        signal.signal(signal.SIGALRM, pytest_own[0])
        signal.setitimer(signal.ITIMER_REAL, *pytest_own[1])
    assert run_all([job("print('second')")])[1] == [(0, "second\n")]


def test_a_server_that_died_is_an_error_and_the_next_call_starts_another(job):
    kills = "import os, signal; os.kill(os.getppid(), signal.SIGKILL)"
    with pytest.raises(RuntimeError, match="ended with -9"):
        run_all([job(kills)])
    assert run_all([job("print('second')")])[1] == [(0, "second\n")]


CALLER = """\
import sys
from tests.forked import Job, run_all
run_all([Job([path], {folder!r}, 60.0) for path in {paths!r}])
"""


@pytest.fixture
def caller(job, tmp_path):
    """A function that calls run_all() in a process, and returns it once a program has begun."""
    processes = []

    def start(source, count):
        paths = [job(source).argv[0]] * count
        code = CALLER.format(folder=str(tmp_path), paths=paths)
        command = [sys.executable, "-c", code]
        processes.append(subprocess.Popen(command, cwd=catalog.ROOT, start_new_session=True))
        begun = tmp_path / "begun"
        while not (begun.exists() and begun.read_text().endswith("\n")):
            assert processes[0].poll() is None
            time.sleep(0.01)
        return processes[0]

    yield start
    for process in processes:
        process.kill()
        process.wait()


def lives(pid):
    """True if the process has not ended. Nobody may wait for it in a container, so a zombie has."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return done.stdout.strip()[:1] not in ("", "Z")


def ends(pid):
    deadline = time.monotonic() + 10
    while lives(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not lives(pid)


SLEEPS = """\
import os, time
with open("begun.part", "a") as file: file.write(f"{os.getpid()} {os.getppid()}\\n")
os.replace("begun.part", "begun")
time.sleep(40)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_the_programs_and_the_server(caller, tmp_path, number):
    process = caller(SLEEPS, 1)
    os.killpg(process.pid, number)
    process.wait(timeout=10)
    program, server = map(int, (tmp_path / "begun").read_text().split())
    assert [ends(program), ends(server)] == [True, True]


def test_nothing_is_begun_after_the_caller_was_killed(caller, tmp_path):
    source = "import os, time\nwith open('begun', 'a') as file: file.write(f'{os.getppid()}\\n')\n"
    process = caller(source + "time.sleep(0.2)", 30)
    process.kill()
    process.wait()
    servers = (tmp_path / "begun").read_text().split()
    assert ends(int(servers[0]))
    assert len((tmp_path / "begun").read_text().split()) < 30
