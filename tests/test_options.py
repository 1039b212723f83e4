"""The suite's own options: what they refuse, and that they test what they are given."""

import shutil
import subprocess
import sys

import pytest
import torch

from matrix import catalog

FIXES = catalog.ROOT / "reference_fixes"


def run_suite(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-x", *map(str, arguments)],
        cwd=catalog.ROOT,
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="this machine has MPS")
def test_a_device_that_cannot_compute_is_red_with_the_probes_reason():
    done = run_suite("--device", "mps", "tests/test_loss.py")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "--device mps: " in done.stderr


@pytest.mark.parametrize("edit", [False, True])
def test_copies_are_tested_in_place_of_the_projects_own(tmp_path, edit):
    shutil.copy(FIXES / "loss.py", tmp_path)
    if edit:  # an edit that breaks a promise
        text = (tmp_path / "loss.py").read_text()
        (tmp_path / "loss.py").write_text(text.replace("if selected == 0:", "if False:"))
    done = run_suite(f"--fixes={tmp_path}", "-k", "masked_mean")
    assert done.returncode == int(edit), done.stdout
    assert ("test_masked_mean" in done.stdout) is edit
    assert "test_amp" not in done.stdout  # only what was vendored is tested


def test_a_folder_without_fixes_is_refused(tmp_path):
    done = run_suite(f"--fixes={tmp_path}")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "none of rnn.py, amp.py" in done.stderr
