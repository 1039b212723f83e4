"""`exec --watch` on programs of other people's kind: ranks, workers, failures, interrupts."""

import json
import os
import signal
import subprocess
import sys
import textwrap

import pytest

from matrix import catalog

pytest.importorskip("torch")

BROKEN = """
    import torch
    from torch.nn.functional import cross_entropy

    model = torch.nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(8, 4), torch.randint(3, (8,))
    for _ in range(4):
        loss = cross_entropy(model(x).softmax(1), y)
        loss.backward()
        optimizer.step()
"""
IDS = ["loss/softmax_before_cross_entropy", "optimizers/missing_zero_grad"]


@pytest.fixture
def watched(tmp_path):
    """Runs a program under exec --watch; returns its exit status, its output and the report."""

    def run(program, *options, command=(), env=None, wait=True):
        (tmp_path / "train.py").write_text(textwrap.dedent(program))
        report = tmp_path / "report.json"
        arguments = [sys.executable, "-m", "matrix", "exec", "--watch", "--report", str(report)]
        command = [*(command or [sys.executable]), str(tmp_path / "train.py")]
        process = subprocess.Popen(
            [*arguments, *options, "--", *command],
            cwd=catalog.ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        if not wait:
            return process, report
        out, err = process.communicate(timeout=200)
        return process.returncode, out, err, json.loads(report.read_text())

    return run


def test_findings_are_printed_and_written(watched, tmp_path):
    status, out, err, report = watched(BROKEN + "    print('done')\n")
    assert (status, out) == (0, "done\n")
    assert [finding["id"] for finding in report] == IDS
    assert [finding["line"] for finding in report] == [9, 11]
    assert {finding["file"] for finding in report} == {str(tmp_path / "train.py")}
    assert report[0].keys() >= {"check", "level", "message", "change", "step", "count", "facts"}
    live, _, below = err.partition("--- torch-repros: what was seen while")
    for id in IDS:
        assert live.count(f"[{id}]") == below.count(f"[{id}]") == 1
    assert "torch-repros show optimizers/missing_zero_grad" in below


def test_the_report_of_a_failed_program_is_written_and_its_error_explained(watched):
    program = BROKEN + '\n    raise ValueError("Attempting to unscale FP16 gradients.")\n'
    status, _, err, report = watched(program)
    assert status == 1
    assert [finding["id"] for finding in report] == IDS
    assert "amp/unscale_fp16_parameters" in err


def test_an_interrupted_program_has_a_report(watched):
    program = BROKEN + '\n    print("ready", flush=True)\n    import time\n    time.sleep(100)\n'
    process, report = watched(program, wait=False)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    assert [finding["id"] for finding in json.loads(report.read_text())] == IDS


@pytest.mark.parametrize("program", ["import torch", "print(1)", "raise SystemExit(3)"])
def test_nothing_found_is_an_empty_list(watched, program):
    status, _, err, report = watched(program)
    assert status == (3 if "Exit" in program else 0)
    assert report == []
    assert "what was seen" not in err


def test_ranks_make_one_finding(watched, tmp_path):
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    status, _, err, report = watched(BROKEN, command=launcher)
    assert status == 0, err
    assert [finding["id"] for finding in report] == IDS
    assert report[0]["count"] == 8  # four sampled steps in each of two ranks
    assert err.partition("--- torch-repros")[0].count(f"[{IDS[0]}]") == 1


def test_spawned_processes_are_watched(watched):
    program = f"""
        import torch.multiprocessing as mp

        def train(rank):
{textwrap.indent(textwrap.dedent(BROKEN), "            ")}

        if __name__ == "__main__":
            mp.spawn(train, nprocs=1)
    """
    status, _, err, report = watched(program)
    assert status == 0, err
    assert [finding["id"] for finding in report] == IDS


def test_every_step_is_looked_at_with_watch_all(watched):
    program = BROKEN.replace("range(4)", "range(7)")
    _, _, _, report = watched(program, "--watch=all")
    assert report[0]["count"] == 7


def test_the_sitecustomize_of_the_environment_is_run_too(watched, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "sitecustomize.py").write_text("import os\nos.environ['OTHER'] = 'yes'\n")
    program = "import os\nprint(os.environ['OTHER'])"
    status, out, _, report = watched(program, env={"PYTHONPATH": str(other)})
    assert (status, out, report) == (0, "yes\n", [])


def test_a_closed_standard_error_does_not_end_the_program(watched):
    program = "import os\nos.close(2)\n" + textwrap.dedent(BROKEN) + "print('done')\n"
    status, out, _, report = watched(program)
    assert (status, out) == (0, "done\n")
    assert [finding["id"] for finding in report] == IDS


def test_a_report_needs_a_watch():
    command = [sys.executable, "-m", "matrix", "exec", "--report", os.devnull, "--", "true"]
    done = subprocess.run(command, cwd=catalog.ROOT, capture_output=True, text=True)
    assert done.returncode == 2
    assert "--report needs --watch" in done.stderr
