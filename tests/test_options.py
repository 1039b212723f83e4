"""What the suite needs to start, what its options refuse, and what they test."""

import shutil
import subprocess
import sys

import pytest
import torch

from matrix import catalog

COLLECT_WITHOUT = """
import os, sys
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # one of them is Hypothesis'
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


@pytest.mark.parametrize("edit", [False, True])
def test_copies_are_tested_in_place_of_the_projects_own(tmp_path, edit):
    shutil.copy(catalog.FIXES / "loss.py", tmp_path)
    if edit:  # an edit that breaks a promise
        text = (tmp_path / "loss.py").read_text()
        (tmp_path / "loss.py").write_text(text.replace("if selected == 0:", "if False:"))
    done = run_suite(f"--fixes={tmp_path}", "-k", "masked_mean")
    assert done.returncode == int(edit), done.stdout
    assert ("test_masked_mean" in done.stdout) is edit


def test_only_the_families_that_were_copied_are_tested(tmp_path):
    shutil.copy(catalog.FIXES / "loss.py", tmp_path)
    listed = run_suite(f"--fixes={tmp_path}", "--collect-only").stdout.splitlines()
    assert {line.split("::")[0] for line in listed if "::" in line} == {"tests/fixes/test_loss.py"}


def test_a_family_that_was_added_is_tested_as_a_copy_too(tmp_path):
    """In a project of the harness and one family, which is not among those of today."""
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
