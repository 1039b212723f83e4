"""Tests the requirements of the suite and the effect of its options."""

import shutil
import subprocess
import sys

import pytest
import torch

from matrix import catalog

COLLECT_WITHOUT = """
import os, sys
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # one of the plugins belongs to Hypothesis
path, *absent = sys.argv[1:]
sys.modules.update(dict.fromkeys(absent))  # importing them fails

import pytest
sys.exit(pytest.main(["-q", "--collect-only", "-p", "no:cacheprovider", path]))
"""


def run_suite(*arguments, root=catalog.ROOT):
    options = ["-q", "-p", "no:cacheprovider", "-x", *map(str, arguments)]
    return run("-m", "pytest", *options, root=root)


def run(*arguments, root=catalog.ROOT):
    return subprocess.run([sys.executable, *arguments], cwd=root, capture_output=True, text=True)


def test_no_test_of_the_harness_imports_torch():
    done = run("-c", COLLECT_WITHOUT, "tests/harness", "torch")
    assert done.returncode == pytest.ExitCode.OK, done.stdout + done.stderr


def test_the_suite_starts_without_torch_and_hypothesis():
    done = run("-c", COLLECT_WITHOUT, "tests/harness/stub", "torch", "hypothesis")
    assert done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED, done.stdout + done.stderr


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="this machine has MPS")
def test_a_device_that_cannot_compute_fails_with_the_probes_reason():
    done = run_suite("--device", "mps", "tests/fixes/test_loss.py")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--device mps: " in done.stderr


def test_copies_are_tested_in_place_of_the_projects_own(tmp_path):
    text = (catalog.FIXES / "loss.py").read_text()
    broken = text.replace("if selected == 0:", "if False:")  # breaks a promise of the fix
    assert broken != text
    (tmp_path / "loss.py").write_text(broken)
    done = run_suite(f"--fixes={tmp_path}", "-k", "masked_mean")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    assert "test_masked_mean" in done.stdout


def test_only_the_families_that_were_copied_are_tested(tmp_path):
    shutil.copy(catalog.FIXES / "loss.py", tmp_path)
    listed = run_suite(f"--fixes={tmp_path}", "--collect-only").stdout.splitlines()
    assert {line.split("::")[0] for line in listed if "::" in line} == {"tests/fixes/test_loss.py"}


def test_a_family_that_was_added_is_tested_as_a_copy_too(tmp_path):
    """Tests a project with the harness and one new family."""
    project, copies = tmp_path / "project", tmp_path / "copies"
    ignore = shutil.ignore_patterns("__pycache__", "records")
    shutil.copytree(catalog.ROOT / "matrix", project / "matrix", ignore=ignore)
    for name in ("noxfile.py", "pyproject.toml", "tests/conftest.py"):
        (project / name).parent.mkdir(exist_ok=True)
        shutil.copy(catalog.ROOT / name, project / name)
    test = 'def test_it(fix_module):\n    assert fix_module("optim").LR == 2\n'
    for path, text in (
        (project / "reference_fixes" / "optim.py", "LR = 1\n"),
        (project / "tests" / "fixes" / "test_optim.py", test),
        (copies / "optim.py", "LR = 2\n"),
    ):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    done = run_suite(f"--fixes={copies}", root=project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_a_folder_without_fixes_is_refused(tmp_path):
    done = run_suite(f"--fixes={tmp_path}")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    names = ", ".join(f"{family}.py" for family in catalog.fixes())
    assert f"expected at least one of {names} there" in done.stderr


GROUPED = """
import os, pytest

@pytest.mark.xdist_group("shared")
@pytest.mark.parametrize("number", range(8))
def test_it(number):
    with open("processes", "a") as file:
        print(os.getpid(), file=file)
"""


def test_a_group_runs_in_one_process(tmp_path):
    (tmp_path / "test_grouped.py").write_text(GROUPED)
    options = ["-q", "-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider"]
    done = run("-m", "pytest", *options, root=tmp_path)
    assert "8 passed" in done.stdout, done.stdout + done.stderr
    processes = (tmp_path / "processes").read_text().split()
    assert len(processes) == 8
    assert len(set(processes)) == 1


ENDLESS = """
import subprocess, sys

def test_a_loop():
    while True:
        pass

def test_a_process():
    program = "import subprocess; subprocess.run(['sleep', '4321'])"
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        process.wait()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no timer that interrupts a test")
def test_a_test_that_does_not_end_is_a_failure_and_leaves_no_process(tmp_path):
    (tmp_path / "test_endless.py").write_text(ENDLESS)
    start = "import pytest, sys, tests.conftest as suite; suite.LIMIT = 2; sys.exit(pytest.main())"
    options = ["-q", "-p", "tests.conftest", "-p", "no:cacheprovider", str(tmp_path)]
    done = run("-c", start.replace("main()", f"main({options})"))
    assert "2 failed" in done.stdout, done.stdout + done.stderr
    assert done.stdout.count("Failed: still running after 2 s") >= 2
    processes = subprocess.run(["ps", "-A", "-o", "args="], capture_output=True, text=True).stdout
    assert "sleep 4321\n" not in processes
