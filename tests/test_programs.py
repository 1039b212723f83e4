"""Runs the program of every report, which must show the header's verdict after the control."""

import os
import re
import subprocess
import sys

import pytest

from matrix import catalog, program
from tests.forked import Job, can_fork, run_all

REPRODUCERS = catalog.select(catalog.load(), ())


@pytest.fixture(scope="module")
def printed(tmp_path_factory, device):
    """The version of torch, and a dict that maps each id to (exit status, output)."""
    if not can_fork(device):
        pytest.skip("programs are run in forked processes: one interpreter each takes 20 minutes")
    concerned = [reproducer for reproducer in REPRODUCERS if device in reproducer.affected]
    jobs = []
    for reproducer in concerned:
        path = tmp_path_factory.mktemp("program") / "repro.py"
        path.write_text(reproducer.program(device), encoding="utf-8")
        jobs.append(Job([str(path)], str(path.parent), reproducer.timeout))
    torch, ended = run_all(jobs)
    return torch, {reproducer.id: answer for reproducer, answer in zip(concerned, ended)}


@pytest.mark.xdist_group("forked")
@pytest.mark.parametrize("reproducer", REPRODUCERS, ids=lambda reproducer: reproducer.id)
def test_a_program_shows_the_symptom_where_its_header_says_so_and_its_control_does_not(
    reproducer, device, printed
):
    if device not in reproducer.affected:
        pytest.skip(f"not applicable on {device}")
    torch, outcomes = printed
    if reason := reproducer.unavailable_reason(torch, sys.platform, device):
        pytest.skip(reason)
    status, output = outcomes[reproducer.id]
    assert "control: ok\n" in output, output
    expected = reproducer.expects(device, torch) == "reproduced"
    if reproducer.kind == "crash" and expected:
        assert status < 0
        output += program.ending(output, status)
    assert program.shows(output, reproducer.symptom) is expected, output
    assert expected or "\nseen: ok\n" in output, output


def in_a_terminal(*command):
    """The output of a successful command in a terminal of 80 columns."""
    import pty

    ours, theirs = pty.openpty()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    process = subprocess.Popen(command, cwd=catalog.ROOT, start_new_session=True, **streams)
    os.close(theirs)
    shown = b""
    while True:
        try:
            shown += os.read(ours, 2**16)
        except OSError:  # raised on Linux once the last program has closed the terminal
            break
    os.close(ours)
    assert process.wait() == 0, shown.decode()
    return shown.decode().replace("\r\n", "\n")


@pytest.mark.skipif(sys.platform != "linux", reason="a terminal")
@pytest.mark.parametrize(
    "id",  # an error, a crash
    ["amp/unscale_twice", "autograd/grid_sample_nan_crashes_backward"],
)
def test_what_is_copied_from_a_report_into_a_file_prints_what_the_report_says(id, device, tmp_path):
    (reproducer,) = catalog.select(REPRODUCERS, (id,))
    if device not in reproducer.affected:
        pytest.skip(f"not applicable on {device}")
    shown = in_a_terminal(sys.executable, "-m", "matrix", "cite", id, "--run", "--device", device)
    assert f"Title: {reproducer.title}\n" in shown
    assert f"**Reproduced on torch {pytest.importorskip('torch').__version__} ({device}" in shown
    copied, quoted = re.findall(r"^```(?:python)?\n(.*?)^```$", shown, re.M | re.S)[:2]
    (tmp_path / "repro.py").write_text(copied)
    done = subprocess.run(
        [sys.executable, "repro.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode < 0:
        done.stdout += program.ending(done.stdout, done.returncode)
    assert program.shows(done.stdout, reproducer.symptom)
    assert program.shows(quoted, reproducer.symptom)
    first, last = done.stdout.splitlines()[0], done.stdout.splitlines()[-1]
    assert quoted.splitlines()[0] == first == "control: ok"
    assert quoted.splitlines()[-1] == last
